/**
 * A field of the form that a person fills in for the answer `retry-with`. With this answer, the job tries the step again with changed
 * values. Each field sets one of these values.
 */
export type OverrideField = {
  name: string;
  kind: "text" | "number" | "boolean" | "choice" | "json";
  says: string;
  isRequired: boolean;
  choices: readonly string[];
};

type Json = Record<string, unknown>;

/**
 * Returns the fields that a person may change when answering a question. They are read from the question's answer schema (JSON text).
 * Returns an empty list if the person cannot change any value.
 */
export function overrideFields(schemaJson: string): readonly OverrideField[] {
  const schema = parse(schemaJson);
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  const required = isObject(schema) && Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(properties).map(([name, property]) => {
    const {
      type,
      description,
      enum: values,
    } = isObject(property) ? (property as { type?: unknown; description?: unknown; enum?: unknown }) : {};
    const choices = Array.isArray(values) && values.every((value) => typeof value === "string") ? values : [];
    return {
      name,
      kind: choices.length > 0 ? "choice" : kindOf(type),
      says: typeof description === "string" ? description : "",
      isRequired: required.includes(name),
      choices,
    };
  });
}

/**
 * Returns the faults of the input, by field. Returns an empty object if there are none. The service then checks the input against the
 * schema.
 */
export function overrideFaults(
  fields: readonly OverrideField[],
  typed: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, isRequired }) => {
      const text = (typed[name] ?? "").trim();
      if (text === "") return isRequired ? [[name, "Give a value."]] : [];
      if (kind === "number" && typeof parse(text) !== "number") return [[name, `${text} is not a number.`]];
      return kind === "json" && parse(text) === undefined ? [[name, "This is not JSON."]] : [];
    }),
  );
}

/**
 * Returns a JSON object, as text, with the values that the user typed into the fields. Leaves out empty fields. Returns an empty text if
 * all fields are empty.
 */
export function overridesJson(fields: readonly OverrideField[], typed: Readonly<Record<string, string>>): string {
  const parts = fields.flatMap(({ name, kind }) => {
    const text = typed[name] ?? "";
    if (text.trim() === "") return [];
    return [`${JSON.stringify(name)}:${kind === "text" || kind === "choice" ? JSON.stringify(text) : text.trim()}`];
  });
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

function kindOf(type: unknown): OverrideField["kind"] {
  if (type === "number" || type === "integer") return "number";
  return type === "string" ? "text" : type === "boolean" ? "boolean" : "json";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text is not valid JSON. The caller decides if this is an error.
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
