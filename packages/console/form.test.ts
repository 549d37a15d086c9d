import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { type FormFault, placeFaults, pointerTo, shownFaults } from "./src/form/faults.ts";
import { type FieldSpec, readSchema, type Shape } from "./src/form/read-schema.ts";
import { cellOf, cellText, emptyOf, numberOf, type Values, withoutSecrets } from "./src/form/value.ts";

// Reads every input schema of the catalog in the same way as the form does.

const catalog = await shippedCatalog();
const forms = [...catalog.tools.values()].flatMap((tool) =>
  tool.kind === "trigger"
    ? []
    : [{ slug: tool.slug, schema: tool.inputSchema, form: readSchema(JSON.stringify(tool.inputSchema)), tool }],
);

/** Returns all fields of a form, each with its JSON Pointer. For a list, the fields of its first item are included. */
function fieldsIn(shape: Shape, pointer = ""): { field: FieldSpec; pointer: string }[] {
  if (shape.type === "list") return fieldsIn(shape.item, pointerTo(pointer, 0));
  if (shape.type !== "object") return [];
  return shape.fields.flatMap((field) => {
    const at = pointerTo(pointer, field.name);
    return [{ field, pointer: at }, ...fieldsIn(field.shape, at)];
  });
}

test("every property of every tool has a field, the required ones first", () => {
  for (const { slug, schema, form } of forms) {
    const { properties = {}, required = [] } = schema as { properties?: object; required?: string[] };
    expect(form.fields.map(({ name }) => name).sort(), slug).toEqual(Object.keys(properties).sort());
    const isRequired = form.fields.map((field) => field.isRequired);
    expect(isRequired, slug).toEqual([...isRequired].sort((a, b) => Number(b) - Number(a)));
    expect(isRequired.filter(Boolean).length, slug).toBe(required.filter((name) => name in properties).length);
  }
});

test("nine fields in ten have a shape of their own, and are no cell of JSON", () => {
  const shapes = forms.flatMap(({ form }) => fieldsIn(form).map(({ field }) => field.shape.type));
  const count = (type: Shape["type"]) => shapes.filter((shape) => shape === type).length;
  for (const type of ["text", "number", "boolean", "choice", "date", "list", "object", "json"] as const) {
    expect(count(type), type).toBeGreaterThan(0);
  }
  expect(count("json") / shapes.length).toBeLessThan(0.1);
});

test("whatever the service finds wrong with empty arguments stands at a field of the form, or says what it is about", () => {
  for (const { slug, form, tool } of forms) {
    const faults: readonly FormFault[] = tool.validateInput({});
    const pointers = new Set(["", ...fieldsIn(form).map(({ pointer }) => pointer)]);
    const placed = placeFaults(form, faults);
    for (const pointer of placed.keys()) expect(pointers, slug).toContain(pointer);
    for (const { missing, pointer } of faults) {
      if (missing === undefined || pointer !== "") continue;
      const at = pointerTo("", missing);
      expect(placed.get(pointers.has(at) ? at : ""), `${slug} ${missing}`).toBeDefined();
    }
  }
});

test("a value of a wrong kind is faulted at the field that holds it", () => {
  for (const { slug, form, tool } of forms) {
    for (const field of form.fields) {
      if (field.shape.type === "json") continue;
      const wrong = field.shape.type === "object" ? 7 : { nothing: "of the kind" };
      const placed = placeFaults(form, tool.validateInput({ [field.name]: wrong }));
      const at = pointerTo("", field.name);
      expect(
        [...placed.keys()].some((key) => key === at || key.startsWith(`${at}/`)),
        `${slug} ${field.name}`,
      ).toBe(true);
    }
  }
});

test("nothing that a definition marks as sensitive is kept, wherever it stands", () => {
  for (const { slug, form } of forms) {
    const kept = JSON.stringify(withoutSecrets(form, filled(form)));
    expect(kept.includes("SECRET"), `${slug} ${kept}`).toBe(false);
  }
});

/** Returns a value for every field. The value is SECRET if the browser must not store the field's value. */
function filled({ fields }: { fields: readonly FieldSpec[] }): Values {
  return Object.fromEntries(
    fields.map(({ name, shape, isKept }) => {
      if (!isKept) return [name, "SECRET"];
      if (shape.type === "object") return [name, filled(shape)];
      if (shape.type !== "list") return [name, emptyOf(shape)];
      return [
        name,
        [shape.isKept ? (shape.item.type === "object" ? filled(shape.item) : emptyOf(shape.item)) : "SECRET"],
      ];
    }),
  );
}

test("a number's text is that number, or stays text where digits would be lost", () => {
  expect(numberOf(" 42 ")).toBe(42);
  expect(numberOf("-1.5")).toBe(-1.5);
  expect(numberOf("")).toBeUndefined();
  expect(numberOf("4x")).toBe("4x");
  expect(numberOf("12345678901234567890")).toBe("12345678901234567890");
});

test("a cell of JSON shows a value so that it is read as the same value", () => {
  for (const value of ["plain", "7", '"quoted"', "true", 7, true, null, { a: [1] }, []]) {
    expect(cellOf(cellText(value, { isLine: false }))).toEqual(value);
  }
  expect(cellText(undefined, { isLine: true })).toBe("");
  expect(cellOf("")).toBeUndefined();
});

test("a fault within a cell of JSON or of no field says which part is meant", () => {
  const form = readSchema(
    '{"properties":{"filter":{"type":["object","array"]},"to":{"type":"array","items":{"type":"string"}}}}',
  );
  const placed = placeFaults(form, [
    { pointer: "/filter/must/0", message: "must be an object" },
    { pointer: "/to/1", message: "must be a string" },
    { pointer: "/tu", message: "is not known" },
    { pointer: "", message: "must have to or filter", missing: "" },
  ]);
  expect(Object.fromEntries(placed)).toEqual({
    "/filter": ["must.0 must be an object"],
    "/to/1": ["must be a string"],
    "": ["tu is not known", "must have to or filter"],
  });
});

test("what is wrong with a field shows once it or a part of it was left, and all of it once everything is judged", () => {
  const faults = new Map([
    ["", ["needs one of to or cc"]],
    ["/to", ["is required"]],
    ["/filter/a", ["is required"]],
    ["/filterless", ["is required"]],
  ]);
  const shown = (...left: string[]) => [...shownFaults(faults, new Set(left)).keys()];
  expect(shown()).toEqual([]);
  expect(shown("/to")).toEqual(["", "/to"]);
  expect(shown("/filter")).toEqual([""]);
  expect(shown("/filter/a")).toEqual(["", "/filter/a"]);
  expect(shown("")).toEqual(["", "/to", "/filter/a", "/filterless"]);
});
