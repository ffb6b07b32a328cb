/** Units, thresholds, mappings and overrides, applied by Grafana's own code to frames. */

import {
  FieldColorModeId,
  FieldConfigOptionsRegistry,
  FieldType,
  ThresholdsMode,
  applyFieldOverrides,
  booleanOverrideProcessor,
  cacheFieldDisplayNames,
  createTheme,
  dataLinksOverrideProcessor,
  displayNameOverrideProcessor,
  identityOverrideProcessor,
  numberOverrideProcessor,
  stringOverrideProcessor,
  thresholdsOverrideProcessor,
  unitOverrideProcessor,
  valueMappingsOverrideProcessor,
} from "@grafana/data";
import type { DataFrame, FieldConfigPropertyItem, FieldConfigSource } from "@grafana/data";
import type { Panel } from "./question";

// What Grafana's application registers for every panel; its editors are of no use here.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const STANDARD: [string, (value: any, ...rest: any[]) => any, "numbers" | "all"][] = [
  ["unit", unitOverrideProcessor, "numbers"],
  ["min", numberOverrideProcessor, "numbers"],
  ["max", numberOverrideProcessor, "numbers"],
  ["fieldMinMax", booleanOverrideProcessor, "numbers"],
  ["decimals", numberOverrideProcessor, "numbers"],
  ["displayName", displayNameOverrideProcessor, "all"],
  ["description", stringOverrideProcessor, "all"],
  ["color", identityOverrideProcessor, "all"],
  ["noValue", stringOverrideProcessor, "all"],
  ["links", dataLinksOverrideProcessor, "all"],
  ["mappings", valueMappingsOverrideProcessor, "all"],
  ["thresholds", thresholdsOverrideProcessor, "all"],
  ["filterable", booleanOverrideProcessor, "all"],
];

// What the panels themselves start from, where Grafana's differ from the components' own defaults.
const GRAPH = {
  drawStyle: "line",
  lineInterpolation: "linear",
  lineWidth: 1,
  fillOpacity: 0,
  gradientMode: "none",
  showPoints: "auto",
  pointSize: 5,
  spanNulls: false,
  insertNulls: false,
  axisPlacement: "auto",
  axisBorderShow: false,
  scaleDistribution: { type: "linear" },
  stacking: { group: "A", mode: "none" },
  hideFrom: { legend: false, tooltip: false, viz: false },
};
const CUSTOM: Record<string, object> = {
  timeseries: GRAPH,
  table: { align: "auto", cellOptions: { type: "auto" }, filterable: false },
};
const COLOURED_BY_NAME = new Set(["timeseries", "barchart", "piechart"]);
const PLAIN = { mode: ThresholdsMode.Absolute, steps: [{ value: -Infinity, color: "green" }, { value: 80, color: "red" }] };

export type Theme = ReturnType<typeof createTheme>;

/** Return what is said of all fields of a panel, with the defaults of its type. */
export function configOf(panel: Panel): FieldConfigSource {
  const given = panel.fieldConfig ?? { defaults: {}, overrides: [] };
  const thresholds = given.defaults.thresholds;
  const mode = COLOURED_BY_NAME.has(panel.type) ? FieldColorModeId.PaletteClassic : FieldColorModeId.Thresholds;
  return {
    overrides: given.overrides ?? [],
    defaults: {
      ...given.defaults,
      color: given.defaults.color ?? { mode },
      thresholds: thresholds ? { ...thresholds, steps: lowest(thresholds.steps) } : PLAIN,
      custom: { ...CUSTOM[panel.type], ...given.defaults.custom },
    },
  };
}

export function dressed(panel: Panel, data: DataFrame[], theme: Theme, timeZone: string): DataFrame[] {
  const fieldConfig = configOf(panel);
  const frames = applyFieldOverrides({
    data,
    fieldConfig,
    fieldConfigRegistry: registry(fieldConfig),
    replaceVariables: (text) => text,
    theme,
    timeZone,
  });
  // The table reads the names from there.
  cacheFieldDisplayNames(frames);
  return frames;
}

// JSON has no -Infinity: the lowest step of a dashboard begins at null.
function lowest(steps: { value: number | null; color: string }[]) {
  return steps.map((step) => ({ ...step, value: step.value ?? -Infinity }));
}

function registry({ defaults, overrides }: FieldConfigSource): FieldConfigOptionsRegistry {
  const custom = new Set(Object.keys(defaults.custom ?? {}));
  for (const { id } of overrides.flatMap((one) => one.properties)) {
    if (id.startsWith("custom.")) {
      custom.add(id.slice("custom.".length));
    }
  }
  return new FieldConfigOptionsRegistry(() => [
    ...STANDARD.map(([id, process, which]) => item(id, id, process, which)),
    ...[...custom].map((path) => ({ ...item(`custom.${path}`, path, identityOverrideProcessor, "all"), isCustom: true })),
  ]);
}

function item(
  id: string,
  path: string,
  process: FieldConfigPropertyItem["process"],
  which: "numbers" | "all",
): FieldConfigPropertyItem {
  const nothing = () => null;
  const shouldApply: FieldConfigPropertyItem["shouldApply"] = (field) => which === "all" || field.type === FieldType.number;
  return { id, path, name: id, process, shouldApply, editor: nothing, override: nothing } as FieldConfigPropertyItem;
}
