/** Input to begin with, by a skill's input schema: every required property with an empty value of its type. JSON text, laid out. */
export function skeletonInput(schemaJson: string): string {
  try {
    const { properties = {}, required = [] } = JSON.parse(schemaJson) as {
      properties?: Record<string, { type?: string; default?: unknown }>;
      required?: string[];
    };
    const names = required.length > 0 ? required : Object.keys(properties);
    const values = names.map((name) => [name, properties[name]?.default ?? emptyOf(properties[name]?.type)]);
    return JSON.stringify(Object.fromEntries(values), undefined, 2);
  } catch {
    // A schema that cannot be read promises nothing of the input.
    return "{}";
  }
}

const empty: Record<string, unknown> = { string: "", number: 0, integer: 0, boolean: false, array: [], object: {} };

function emptyOf(type: string | undefined): unknown {
  return type === undefined ? null : (empty[type] ?? null);
}
