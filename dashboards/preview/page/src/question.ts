/** What the driver (`dashboards/preview/sheet.py`) hands over: a dashboard laid out, and what its queries were answered. */

export interface Answer {
  refId: string;
  legend: string;
  format: string;
  /** "matrix", "vector" or "scalar", as the HTTP API of Prometheus says. */
  kind: string;
  result: Series[];
  /** Milliseconds between two points of a matrix. */
  step: number;
}

export interface Series {
  metric: Record<string, string>;
  /** Seconds since 1970, and the value as text. */
  values: [number, string][];
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  panel: Panel;
  answers: Answer[];
  /** Why a query had no answer; "" when all had one. */
  error: string;
}

// A panel of the classic schema, which `npm run check` compares with Grafana's own description of it.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Panel = any;

export interface Sheet {
  theme: "dark" | "light";
  from: number;
  to: number;
  boxes: Box[];
}
