/** One drawing for each type of panel; a type that is not here is said to be not drawn. */

import { DisplayValue, FieldDisplay, TimeRange, VizOrientation, dateTime, getDisplayValueAlignmentFactors, getFieldDisplayValues, renderTextPanelMarkdown } from "@grafana/data";
import type { DataFrame, DisplayValueAlignmentFactors } from "@grafana/data";
import { BarGauge, BigValue, TimeSeries, VizRepeater } from "@grafana/ui";
import type { VizRepeaterRenderValueProps } from "@grafana/ui";
import { TableNG } from "@grafana/ui/unstable";
import type { ReactElement } from "react";
import { configOf } from "./fields";
import type { Theme } from "./fields";
import { Heatmap } from "./heatmap";
import type { Panel } from "./question";
import { StateTimeline } from "./statetimeline";

export interface Drawing {
  panel: Panel;
  frames: DataFrame[];
  range: TimeRange;
  theme: Theme;
  timeZone: string;
  width: number;
  height: number;
}

type Draw = (drawing: Drawing) => ReactElement;

const DRAW: Record<string, Draw> = {
  timeseries: lines,
  stat: numbers,
  bargauge: bars,
  table,
  heatmap: (drawing) => <Heatmap {...drawing} />,
  "state-timeline": (drawing) => <StateTimeline {...drawing} />,
};

export function draw(drawing: Drawing): ReactElement {
  const { panel, frames } = drawing;
  if (panel.type === "text") {
    return text(drawing);
  }
  const known = DRAW[panel.type];
  if (!known) {
    return <Notice>{`The preview does not draw panels of type "${panel.type}".`}</Notice>;
  }
  const empty = frames.every((frame) => frame.length === 0);
  if (empty && !(panel.type === "stat" || panel.type === "bargauge")) {
    return <Notice>{panel.fieldConfig?.defaults?.noValue ?? "No data"}</Notice>;
  }
  return known(drawing);
}

export function Notice({ children }: { children: string }): ReactElement {
  return <div className="notice">{children}</div>;
}

export function rangeOf(from: number, to: number): TimeRange {
  return { from: dateTime(from), to: dateTime(to), raw: { from: dateTime(from), to: dateTime(to) } };
}

function lines({ panel, frames, range, timeZone, width, height }: Drawing): ReactElement {
  const { legend } = panel.options;
  return (
    <TimeSeries frames={frames} timeRange={range} timeZone={timeZone} width={width} height={height} legend={legend} />
  );
}

function text({ panel, height }: Drawing): ReactElement {
  const { mode, content } = panel.options;
  const html = mode === "markdown" ? renderTextPanelMarkdown(content) : content;
  return <div className="markdown-html text" style={{ height }} dangerouslySetInnerHTML={{ __html: html }} />;
}

function table({ panel, frames, range, width, height }: Drawing): ReactElement {
  const { sortBy, showHeader = true, cellHeight } = panel.options;
  return (
    <TableNG
      data={frames[0]}
      width={width}
      height={height}
      timeRange={range}
      noHeader={!showHeader}
      sortBy={sortBy}
      cellHeight={cellHeight}
      structureRev={1}
    />
  );
}

function values({ panel, frames, theme, timeZone }: Drawing, sparkline: boolean): FieldDisplay[] {
  return getFieldDisplayValues({
    data: frames,
    reduceOptions: panel.options.reduceOptions,
    fieldConfig: configOf(panel),
    replaceVariables: (text) => text,
    sparkline,
    theme,
    timeZone,
  });
}

function numbers(drawing: Drawing): ReactElement {
  const { panel, range, theme, width, height } = drawing;
  const { colorMode, graphMode, justifyMode, orientation, textMode, wideLayout } = panel.options;
  const found = values(drawing, graphMode !== "none");
  const one = ({ value, width, height, alignmentFactors, count }: Repeated) => {
    if (value.sparkline) {
      value.sparkline.timeRange = range;
    }
    return (
      <BigValue
        value={value.display}
        count={count}
        sparkline={value.sparkline}
        colorMode={colorMode}
        graphMode={graphMode}
        justifyMode={justifyMode}
        textMode={textMode}
        text={panel.options.text}
        alignmentFactors={alignmentFactors}
        disableWideLayout={wideLayout === false}
        theme={theme}
        width={width}
        height={height}
      />
    );
  };
  return repeated(found, one, { width, height, orientation, autoGrid: true, minVizWidth: 0, minVizHeight: 0 });
}

function bars(drawing: Drawing): ReactElement {
  const { panel, theme, width, height } = drawing;
  // As the panel of Grafana begins.
  const given = { displayMode: "gradient", namePlacement: "auto", showUnfilled: true, valueMode: "color", ...panel.options };
  const { displayMode, namePlacement, showUnfilled, valueMode, minVizHeight = 16, minVizWidth = 8, maxVizHeight } = given;
  const orientation = given.orientation === "auto" ? widest(width, height) : given.orientation;
  const one = ({ value, width, height, alignmentFactors }: Repeated) => (
    <BarGauge
      value={value.display}
      field={value.field}
      display={processor(value)}
      width={width}
      height={height}
      orientation={orientation}
      displayMode={displayMode}
      namePlacement={namePlacement}
      showUnfilled={showUnfilled}
      valueDisplayMode={valueMode}
      text={panel.options.text}
      alignmentFactors={alignmentFactors}
      itemSpacing={8}
      lcdCellWidth={12}
      theme={theme}
    />
  );
  return repeated(values(drawing, false), one, { width, height, orientation, minVizHeight, minVizWidth, maxVizHeight });
}

type Repeated = VizRepeaterRenderValueProps<FieldDisplay, DisplayValueAlignmentFactors>;

interface Room {
  width: number;
  height: number;
  orientation: VizOrientation;
  autoGrid?: boolean;
  minVizWidth?: number;
  minVizHeight?: number;
  maxVizHeight?: number;
}

function repeated(found: FieldDisplay[], one: (value: Repeated) => ReactElement, room: Room): ReactElement {
  return (
    <VizRepeater<FieldDisplay, DisplayValueAlignmentFactors>
      {...room}
      getValues={() => found}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={one}
      renderCounter={0}
      source={found}
      itemSpacing={8}
    />
  );
}

function widest(width: number, height: number): VizOrientation {
  return width > height ? VizOrientation.Vertical : VizOrientation.Horizontal;
}

function processor({ view, colIndex }: FieldDisplay): ((value: unknown) => DisplayValue) | undefined {
  return view && colIndex != null ? view.getFieldDisplayProcessor(colIndex) : undefined;
}
