/** Tells in the body's data which units and reducers Grafana has: for `make dashboards-check`. */

import { fieldReducers, getValueFormats } from "@grafana/data";

const units = getValueFormats().flatMap((group) => group.submenu?.map((unit) => unit.value) ?? []);
const reducers = fieldReducers.list().map((reducer) => reducer.id);
document.body.dataset.facts = JSON.stringify({ units, reducers });
