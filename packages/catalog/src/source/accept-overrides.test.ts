import { expect, test } from "vitest";
import { entriesMax } from "../import/select.ts";
import { addOverrides } from "./accept-overrides.ts";

test("too many overrides are refused before any of them is read", () => {
  let reads = 0;
  const one = {
    ...{ name: "", class: "read", description: "" },
    get match() {
      reads++;
      return "a*";
    },
  };
  const given = Array.from({ length: entriesMax + 1 }, () => one);
  expect(() => addOverrides("{}", given, { names: new Set(), isAccepted: () => true })).toThrow(
    `${entriesMax + 1} overrides`,
  );
  expect(reads).toBe(0);
});

test("an override that becomes too many because some tools are not accepted is named", () => {
  const names = new Set(Array.from({ length: entriesMax + 1 }, (_, at) => `list_${at}`));
  const read = { name: "", class: "read", description: "" };
  const given = [
    { ...read, match: "list_1" },
    { ...read, match: "list_*" },
  ];
  const stored = JSON.stringify({ overrides: [] });
  const add = (isAccepted: (name: string) => boolean) => addOverrides(stored, given, { names, isAccepted });
  expect(add(() => true).overrides.list).toHaveLength(2);
  const isAccepted = (name: string) => name !== "list_7";
  expect(() => add(isAccepted)).toThrow(
    `would have ${entriesMax + 1} overrides, and may have ${entriesMax}; overrides[1] becomes ${entriesMax}, one for each tool`,
  );
  expect(() => add(isAccepted)).toThrow(
    expect.objectContaining({ fault: expect.objectContaining({ field: "overrides[1].match" }) }),
  );
});

test("a pattern means the names that an approver sees, and a class only tools whose changes are accepted", () => {
  const renamed = { match: "purge_all", name: "list_all", class: "", description: "" };
  const stored = JSON.stringify({ overrides: [renamed], names: { "POST /purge": "purge_all" }, moved: {} });
  const names = new Set(["list_all", "list_orders", "purge_orders"]);
  const read = { name: "", class: "read", description: "" };
  const added = (match: string, isAccepted: (name: string) => boolean, description = "") =>
    addOverrides(stored, [{ ...read, match, description }], { names, isAccepted }).overrides.list.map((one) => [
      one.match,
      one.class,
      one.description,
    ]);
  expect(added("purge_*", () => true)).toEqual([["purge_orders", "read", ""]]);
  expect(added("list_*", () => true)).toEqual([
    ["purge_all", "read", ""],
    ["list_orders", "read", ""],
  ]);
  expect(added("*_orders", () => true)).toEqual([["*_orders", "read", ""]]);
  expect(added("*_orders", (name) => name === "list_orders")).toEqual([["list_orders", "read", ""]]);
  const text = "Lists the orders of the shop, with the newest first.";
  expect(added("*_orders", (name) => name === "list_orders", text)).toEqual([
    ["list_orders", "read", text],
    ["purge_orders", "", text],
  ]);
  expect(() => added("purge_all", () => true)).toThrow("matches no tool");
});
