/** Draws the sheet that the driver left in `window.SHEET`, and tells in the body's data what did not fit. */

import "@fontsource/inter/latin-400.css";
import "@fontsource/inter/latin-500.css";
import "@fontsource/roboto-mono/latin-400.css";
import { ThemeContext, createTheme } from "@grafana/data";
import type { DataFrame } from "@grafana/data";
import { GlobalStyles, PanelChrome } from "@grafana/ui";
import type { ReactElement } from "react";
import moment from "moment";
import { createRoot } from "react-dom/client";
import { dressed } from "./fields";
import { framesOf } from "./frames";
import { overflows } from "./overflow";
import { Notice, draw, rangeOf } from "./panels";
import type { Box, Sheet } from "./question";

declare global {
  interface Window {
    SHEET: Sheet;
  }
}

const TIME_ZONE = "utc";
const FONTS = ["400 14px Inter", "500 14px Inter", "400 14px 'Roboto Mono'"];
// Charts settle in a few frames; the driver gives the page more (virtual) time than that.
const SETTLED_MILLISECONDS = 1500;

async function main(): Promise<void> {
  const { boxes, from, to, theme: mode } = window.SHEET;
  const theme = createTheme({ colors: { mode } });
  const frames = await Promise.all(boxes.map((box) => framesOf(box.panel, box.answers)));
  const sheet = (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      {boxes.map((box, at) => (
        <Place key={at} box={box}>
          {(width, height) =>
            box.error ? (
              <Notice>{box.error}</Notice>
            ) : (
              draw({
                panel: box.panel,
                frames: dressed(box.panel, frames[at] as DataFrame[], theme, TIME_ZONE),
                range: rangeOf(from, to),
                theme,
                timeZone: TIME_ZONE,
                width,
                height,
              })
            )
          }
        </Place>
      ))}
    </ThemeContext.Provider>
  );
  // "An hour ago" is counted from the end of what is shown.
  moment.now = () => to;
  document.body.style.background = theme.colors.background.canvas;
  document.body.style.color = theme.colors.text.primary;
  // Text is measured on canvases: the fonts must be there before.
  await Promise.all(FONTS.map((font) => document.fonts.load(font)));
  createRoot(document.getElementById("sheet") as HTMLElement).render(sheet);
  setTimeout(tell, SETTLED_MILLISECONDS);
}

function Place(props: { box: Box; children: (width: number, height: number) => ReactElement }): ReactElement {
  const { x, y, width, height, panel } = props.box;
  const style = { position: "absolute" as const, left: x, top: y, width, height };
  if (panel.type === "row") {
    return (
      <div className="section" style={style}>
        {panel.title}
      </div>
    );
  }
  return (
    <div className="panel" data-title={panel.title} style={style}>
      <PanelChrome
        title={panel.title}
        description={panel.description}
        width={width}
        height={height}
        displayMode={panel.transparent ? "transparent" : "default"}
        padding={panel.type === "table" ? "none" : "md"}
      >
        {props.children}
      </PanelChrome>
    </div>
  );
}

function tell(): void {
  const places = [...document.querySelectorAll<HTMLElement>(".panel")];
  const found = places.flatMap((place) => overflows(place, place.dataset.title ?? ""));
  document.body.dataset.overflows = JSON.stringify(found);
}

main().catch((error: unknown) => {
  document.body.dataset.failure = String(error);
});
