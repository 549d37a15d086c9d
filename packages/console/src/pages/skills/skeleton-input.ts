/** Returns a first input from a skill's input schema: every required property with an empty value of its type. Formatted JSON text. */
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
    // The schema cannot be read, so the input starts as an empty object.
    return "{}";
  }
}

const empty: Record<string, unknown> = { string: "", number: 0, integer: 0, boolean: false, array: [], object: {} };

function emptyOf(type: string | undefined): unknown {
  return type === undefined ? null : (empty[type] ?? null);
}
