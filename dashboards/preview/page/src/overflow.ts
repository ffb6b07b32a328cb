/** Finds text that does not fit where it stands: as the browser has laid it out, not as we hope. */

const TOLERANCE = 1.5;

export interface Overflow {
  panel: string;
  text: string;
  why: string;
}

/** Return what is cut, or stands outside of its panel. A list that scrolls downwards is as it should be. */
export function overflows(panel: Element, title: string): Overflow[] {
  const found: Overflow[] = [];
  const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent?.trim() ?? "";
    const why = text && node.parentElement && isShown(node.parentElement) ? cut(node, node.parentElement, panel) : "";
    if (why) {
      found.push({ panel: title, text: text.slice(0, 80), why });
    }
  }
  for (const box of panel.querySelectorAll("*")) {
    const [beyond, scrolls] = [box.scrollWidth - box.clientWidth, /auto|scroll/.test(getComputedStyle(box).overflowX)];
    if (scrolls && box.clientWidth > 0 && beyond > TOLERANCE) {
      found.push({ panel: title, text: "", why: `scrolls sideways: ${beyond} px do not fit` });
    }
  }
  for (const canvas of panel.querySelectorAll<HTMLCanvasElement>("canvas[data-cut]")) {
    found.push({ panel: title, text: canvas.dataset.cut ?? "", why: "its lane is too narrow or too low" });
  }
  return found;
}

// What only screen readers are told is a pixel wide.
function isShown(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width > 1 && height > 1 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

function cut(node: Node, parent: Element, panel: Element): string {
  const range = document.createRange();
  range.selectNodeContents(node);
  const words = range.getBoundingClientRect();
  if (words.width < 2 || words.height < 2) {
    return "";
  }
  for (let box: Element | null = parent; box && panel.contains(box); box = box.parentElement) {
    const style = getComputedStyle(box);
    // Inline boxes clip nothing.
    if (box !== panel && (style.overflowX === "visible" || style.display.startsWith("inline"))) {
      continue;
    }
    const edges = box.getBoundingClientRect();
    if (words.right > edges.right + TOLERANCE || words.left < edges.left - TOLERANCE) {
      return `cut at the side by ${Math.round(Math.max(words.right - edges.right, edges.left - words.left))} px`;
    }
    if (box === panel || style.overflowY === "hidden" || style.overflowY === "clip") {
      if (words.bottom > edges.bottom + words.height / 4 || words.top < edges.top - words.height / 4) {
        return "cut above or below";
      }
    } else if (style.overflowY !== "visible") {
      // It scrolls downwards: what is further down can be reached.
      return "";
    }
  }
  return "";
}
