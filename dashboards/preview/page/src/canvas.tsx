/** A canvas as sharp as the screen, drawn once. */

import { useLayoutEffect, useRef } from "react";
import type { ReactElement } from "react";

export function Canvas(props: {
  width: number;
  height: number;
  paint: (context: CanvasRenderingContext2D) => void;
}): ReactElement {
  const { width, height, paint } = props;
  const ref = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = ref.current?.getContext("2d");
    if (context) {
      context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
      context.clearRect(0, 0, width, height);
      paint(context);
    }
  });
  const size = { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) };
  return <canvas ref={ref} {...size} style={{ width, height, display: "block" }} />;
}

/** The instants, as milliseconds, that an axis from `from` to `to` is written at: round ones, at most `most`. */
export function roundTimes(from: number, to: number, most: number): number[] {
  const minute = 60_000;
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map((minutes) => minutes * minute);
  const step = steps.find((one) => (to - from) / one <= most) ?? to - from;
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, at) => first + at * step);
}

export function clock(at: number, span: number): string {
  const text = new Date(at).toISOString();
  return span > 36 * 3_600_000 ? text.slice(5, 10).replace("-", "/") : text.slice(11, 16);
}

/** Cuts `text` so that it fits; says whether it had to. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): [string, boolean] {
  if (context.measureText(text).width <= width) {
    return [text, false];
  }
  let length = text.length;
  while (length && context.measureText(`${text.slice(0, length)}…`).width > width) {
    length -= 1;
  }
  return [`${text.slice(0, length)}…`, true];
}
