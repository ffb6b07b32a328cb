/** From answers of Prometheus' HTTP API to the frames that Grafana's Prometheus data source makes of them. */

import { FieldType, createDataFrame, standardTransformers, standardTransformersRegistry, transformDataFrame } from "@grafana/data";
import type { DataFrame, PartialDataFrame } from "@grafana/data";
import { firstValueFrom } from "rxjs";
import type { Answer, Panel, Series } from "./question";

// One of them is there twice, under an older name.
const TRANSFORMERS = new Map(Object.values(standardTransformers).map((info) => [info.id, info]));

standardTransformersRegistry.setInit(() =>
  [...TRANSFORMERS.values()].map((info) => ({
    ...info,
    editor: () => null,
    transformation: () => Promise.resolve(info),
    imageDark: "",
    imageLight: "",
  })),
);

export async function framesOf(panel: Panel, answers: Answer[]): Promise<DataFrame[]> {
  const frames = answers.flatMap((answer) => (answer.format === "table" ? [table(answer, answers.length)] : each(answer)));
  const steps = (panel.transformations ?? []).filter((one: { disabled?: boolean }) => !one.disabled);
  return steps.length ? firstValueFrom(transformDataFrame(steps, frames)) : frames;
}

/** Return how the legend names a series: `{{label}}` filled in, else its name and labels. */
export function named(metric: Record<string, string>, legend: string): string {
  if (legend && legend !== "__auto") {
    return legend.replace(/{{\s*(.+?)\s*}}/g, (_, label: string) => metric[label] ?? "");
  }
  const { __name__: name = "", ...labels } = metric;
  const list = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return list.length ? `${name}{${list.join(", ")}}` : name || "Value";
}

function each(answer: Answer): DataFrame[] {
  const result = answer.format === "heatmap" ? buckets(answer.result) : answer.result;
  return result.map((series) => {
    const name = named(series.metric, answer.legend);
    return createDataFrame({
      refId: answer.refId,
      name,
      fields: [
        {
          name: "Time",
          type: FieldType.time,
          config: { interval: answer.step },
          values: series.values.map(([at]) => at * 1000),
        },
        {
          name: "Value",
          type: FieldType.number,
          labels: series.metric,
          config: { displayNameFromDS: name },
          values: series.values.map(([, value]) => number(value)),
        },
      ],
    });
  });
}

function table(answer: Answer, tables: number): DataFrame {
  const rows = answer.result.flatMap(({ metric, values }) => values.map(([at, value]) => ({ metric, at, value })));
  const labels = [...new Set(rows.flatMap(({ metric }) => Object.keys(metric)))].sort();
  const frame: PartialDataFrame = {
    refId: answer.refId,
    fields: [
      { name: "Time", type: FieldType.time, config: {}, values: rows.map(({ at }) => at * 1000) },
      ...labels.map((label) => ({
        name: label,
        type: FieldType.string,
        config: { filterable: true },
        values: rows.map(({ metric }) => metric[label]),
      })),
      {
        name: tables > 1 ? `Value #${answer.refId}` : "Value",
        type: FieldType.number,
        config: {},
        values: rows.map(({ value }) => number(value)),
      },
    ],
  };
  return createDataFrame(frame);
}

/** Return cumulative buckets, in the order of their edges, as what each of them alone holds. */
function buckets(cumulative: Series[]): Series[] {
  const edge = ({ metric }: Series) => number(metric.le ?? "NaN");
  const sorted = [...cumulative].sort((one, other) => edge(one) - edge(other));
  return sorted.map((series, at) => {
    const below = new Map(at ? sorted[at - 1].values : []);
    const values = series.values.map(([time, value]): [number, string] => [
      time,
      String(Math.max(0, number(value) - number(below.get(time) ?? "0"))),
    ]);
    return { ...series, values };
  });
}

function number(text: string): number {
  return text === "+Inf" ? Infinity : text === "-Inf" ? -Infinity : Number(text);
}
