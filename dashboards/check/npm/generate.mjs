// Prints JSON Schemas of the types in @grafana/schema: {"dashboard": …, "stat.Options": …, "stat.FieldConfig": …}.
// One schema for each, because types of one name differ from panel to panel.
import { SchemaGenerator, createFormatter, createParser, createProgram } from "ts-json-schema-generator";

const RAW = "node_modules/@grafana/schema/dist/types/raw";
const PANELS = process.argv.slice(2);

const config = {
  path: `${RAW}/{dashboard,composable/{${[...PANELS, ""].join()}}/panelcfg}/x/types.gen.d.ts`,
  tsconfig: undefined,
  type: "*",
  skipTypeCheck: true,
  additionalProperties: false,
  expose: "export",
  topRef: true,
};
const program = createProgram(config);

function schema(file, name) {
  const source = program.getSourceFiles().find((one) => one.fileName.endsWith(`${RAW}/${file}/x/types.gen.d.ts`));
  const node = source?.statements.find((one) => one.name?.text === name);
  if (!node) {
    return undefined;
  }
  const generator = new SchemaGenerator(program, createParser(program, config), createFormatter(config), config);
  return generator.createSchemaFromNodes([node]);
}

const schemas = { dashboard: schema("dashboard", "Dashboard") };
for (const panel of PANELS) {
  for (const name of ["Options", "FieldConfig"]) {
    schemas[`${panel}.${name}`] = schema(`composable/${panel}/panelcfg`, name);
  }
}
process.stdout.write(JSON.stringify(schemas));
