import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";

/**
 * Path of a value that templates in a schedule's definition can use, such as a field of the event. `isCertain`: true if the value is always
 * present; false if it may be absent.
 */
type GivenPath = { readonly path: string; readonly isCertain: boolean };

/** Maximum depth at which a field is searched in the nested objects of the template values. */
const depthMax = 4;

/**
 * Returns an example value for one field of the program's input, as JSON text: a reference such as `{"$ref": "event.payload.id"}`. `name`:
 * name of the field. `given`: schema of the values that a reference can name.
 */
export function suggestedValue(name: string, given: JsonSchema): string {
  const found = pathTo(name, given);
  const { path, isCertain } = found ?? { path: whereToLook(given), isCertain: true };
  return `{"$ref": ${JSON.stringify(path)}${isCertain ? "" : ', "else": ""'}}`;
}

/**
 * Returns the shortest path in the schema `given` to a field that is called `name`. Ignores case and punctuation. Returns undefined if
 * there is no such field.
 */
function pathTo(name: string, given: JsonSchema): GivenPath | undefined {
  let level: (GivenPath & { readonly schema: JsonSchema })[] = [{ path: "", isCertain: true, schema: given }];
  for (let depth = 0; depth < depthMax; depth++) {
    level = level.flatMap(({ path, isCertain, schema }) => {
      const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
      return Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([field, type]) => ({
        path: path === "" ? field : `${path}.${field}`,
        isCertain: isCertain && (required.includes(field) || !Array.isArray(schema.required)),
        schema: isObject(type) ? type : {},
      }));
    });
    const found = level.find(({ path }) => plainOf(path.slice(path.lastIndexOf(".") + 1)) === plainOf(name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns where a program usually finds its values, by the kind of start. Example: `event.payload.<field>` if an event starts the program.
 */
function whereToLook({ properties }: JsonSchema): string {
  const names = Object.keys(isObject(properties) ? properties : {});
  if (names.includes("row")) return "row.<field>";
  if (names.includes("rows")) return "rows";
  return names.includes("event") ? "event.payload.<field>" : "fire.at";
}

function plainOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
