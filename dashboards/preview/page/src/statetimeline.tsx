/** A state timeline of our own: the panel of that name is a part of Grafana's application. One lane for each series. */

import { FieldType, formattedValueToString, getFieldDisplayName } from "@grafana/data";
import type { Field } from "@grafana/data";
import type { ReactElement } from "react";
import { Canvas, clock, fitted, roundTimes } from "./canvas";
import type { Drawing } from "./panels";

const BOTTOM = 22;
const GAP = 8;
const LABEL = "12px Inter, sans-serif";

interface Stretch {
  from: number;
  to: number;
  text: string;
  colour: string;
}

export function StateTimeline({ panel, frames, range, theme, width, height }: Drawing): ReactElement {
  const [from, to] = [range.from.valueOf(), range.to.valueOf()];
  const all = frames.flatMap((frame) => {
    const time = frame.fields.find((field) => field.type === FieldType.time);
    return frame.fields
      .filter((field) => field !== time)
      .map((field) => ({ name: getFieldDisplayName(field, frame, frames), stretches: stretches(field, time, to) }));
  });
  // The others are on pages behind it, which a picture cannot turn.
  const lanes = all.slice(0, panel.options.perPage || all.length);
  const share = panel.options.rowHeight ?? 0.9;
  const paint = (context: CanvasRenderingContext2D) => {
    context.font = LABEL;
    context.textBaseline = "middle";
    // The axis of names takes what the longest of them needs, as in Grafana.
    const left = GAP + Math.min(width / 2, Math.max(...lanes.map((lane) => context.measureText(lane.name).width)));
    const high = (height - BOTTOM) / lanes.length;
    const x = (at: number) => left + ((Math.max(at, from) - from) / (to - from)) * (width - left);
    lanes.forEach((lane, at) => {
      const middle = (at + 0.5) * high;
      for (const { from: begin, to: end, text, colour } of lane.stretches) {
        context.fillStyle = colour;
        context.globalAlpha = (panel.fieldConfig.defaults.custom?.fillOpacity ?? 70) / 100;
        context.fillRect(x(begin), middle - (high * share) / 2, x(end) - x(begin), high * share);
        context.globalAlpha = 1;
        context.fillStyle = theme.colors.getContrastText(colour);
        context.textAlign = "left";
        if (panel.options.showValue !== "never" && context.measureText(text).width + 12 < x(end) - x(begin) && high > 12) {
          context.fillText(text, x(begin) + 6, middle);
        }
      }
      context.fillStyle = theme.colors.text.primary;
      context.textAlign = "right";
      const [name, cut] = fitted(context, lane.name, left - GAP);
      context.fillText(name, left - GAP, middle);
      if (cut || high < 10) {
        context.canvas.dataset.cut = lane.name;
      }
    });
    context.fillStyle = theme.colors.text.secondary;
    context.textAlign = "center";
    for (const at of roundTimes(from, to, (width - left) / 70)) {
      if (x(at) > left + 16 && x(at) < width - 16) {
        context.fillText(clock(at, to - from), x(at), height - BOTTOM / 2);
      }
    }
  };
  return <Canvas width={width} height={height} paint={paint} />;
}

/** Neighbours of one value are one stretch; where points are missing nothing is drawn. */
function stretches(field: Field, time: Field | undefined, end: number): Stretch[] {
  const step = time?.config.interval ?? 0;
  const found: Stretch[] = [];
  field.values.forEach((value: unknown, index: number) => {
    const at: number = time?.values[index];
    const shown = field.display?.(value);
    const text = shown ? formattedValueToString(shown) : String(value);
    const last = found[found.length - 1];
    if (last?.text === text && at <= last.to) {
      last.to = Math.min(at + step, end);
    } else {
      found.push({ from: at, to: Math.min(at + step, end), text, colour: shown?.color ?? "#808080" });
    }
  });
  return found;
}
