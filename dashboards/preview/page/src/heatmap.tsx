/** A heatmap of our own: `@grafana/ui` has none. One row for each bucket, from the lowest edge up. */

import { FieldType, formattedValueToString, getFieldDisplayName, getValueFormat } from "@grafana/data";
import type { ReactElement } from "react";
import { Canvas, clock, roundTimes } from "./canvas";
import type { Drawing } from "./panels";

const BOTTOM = 22;
const GAP = 8;
const LABEL = "12px Inter, sans-serif";
// From little to much: the middle of Grafana's scheme "Oranges", dark enough for either theme.
const COLOURS = ["#3b1206", "#7f2704", "#a63603", "#d94801", "#f16913", "#fd8d3c", "#fdae6b", "#fdd0a2"];

interface Row {
  label: string;
  cells: Map<number, number>;
}

export function Heatmap({ panel, frames, range, theme, width, height }: Drawing): ReactElement {
  const rows = rowsOf(frames, panel.options?.yAxis?.unit ?? "short");
  const [from, to] = [range.from.valueOf(), range.to.valueOf()];
  const step = stepOf(rows);
  const most = Math.max(1e-12, ...rows.flatMap((row) => [...row.cells.values()]));
  const paint = (context: CanvasRenderingContext2D) => {
    context.font = LABEL;
    const left = GAP + Math.max(...rows.map((row) => context.measureText(row.label).width));
    const [wide, high] = [width - left, (height - BOTTOM) / rows.length];
    const x = (at: number) => left + ((at - from) / (to - from)) * wide;
    rows.forEach((row, at) => {
      const y = height - BOTTOM - (at + 1) * high;
      row.cells.forEach((value, time) => {
        if (value > 0 && time >= from) {
          context.fillStyle = colour(value / most);
          const begin = Math.max(left, x(time - step));
          context.fillRect(begin, y, Math.max(1, x(time) - begin - 0.5), Math.max(1, high - 0.5));
        }
      });
    });
    context.fillStyle = theme.colors.text.secondary;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const every = Math.ceil(14 / high);
    rows.forEach((row, at) => {
      if (at % every === 0) {
        context.fillText(row.label, left - GAP / 2, height - BOTTOM - (at + 0.5) * high);
      }
    });
    context.textAlign = "center";
    for (const at of roundTimes(from, to, wide / 70)) {
      if (x(at) > left + 16 && x(at) < width - 16) {
        context.fillText(clock(at, to - from), x(at), height - BOTTOM / 2);
      }
    }
  };
  return <Canvas width={width} height={height} paint={paint} />;
}

function rowsOf(frames: Drawing["frames"], unit: string): Row[] {
  const format = getValueFormat(unit);
  return frames.map((frame) => {
    const time = frame.fields.find((field) => field.type === FieldType.time);
    const value = frame.fields.find((field) => field.type === FieldType.number);
    const name = value ? getFieldDisplayName(value, frame, frames) : "";
    const edge = Number(value?.labels?.le ?? name);
    const label = Number.isFinite(edge) ? formattedValueToString(format(edge)) : name.replace("+Inf", "∞");
    const cells = new Map<number, number>();
    time?.values.forEach((at: number, index: number) => cells.set(at, Number(value?.values[index])));
    return { label, cells };
  });
}

function stepOf(rows: Row[]): number {
  const times = [...new Set(rows.flatMap((row) => [...row.cells.keys()]))].sort((one, other) => one - other);
  return times.reduce((least, at, index) => (index ? Math.min(least, at - times[index - 1]) : least), Infinity);
}

function colour(share: number): string {
  return COLOURS[Math.min(COLOURS.length - 1, Math.floor(Math.sqrt(share) * COLOURS.length))];
}
