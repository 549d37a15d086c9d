import { expect, test } from "vitest";
import { plainBytes, sealedTables } from "./sealed-columns.ts";
import { storedColumns } from "./stored-columns.ts";

test("every column of bytes is declared as sealed, or as what is not", () => {
  const sealed = sealedTables.flatMap(({ name, columns }) => columns.map(({ column }) => `${name}.${column.name}`));
  const plain = Object.entries(plainBytes).flatMap(([table, columns]) => columns.map((column) => `${table}.${column}`));
  const bytes = storedColumns().flatMap(({ table, column, sqlType }) =>
    sqlType.startsWith("bytea") ? [`${table}.${column}`] : [],
  );
  expect(new Set([...sealed, ...plain]).size, "each stands in one list, once").toBe(sealed.length + plain.length);
  expect([...sealed, ...plain].sort()).toEqual(bytes.sort());
});

test("no column that is named as sealed is declared as one that is not", () => {
  const suspects = Object.entries(plainBytes).flatMap(([table, columns]) =>
    columns
      .filter((column) => /seal|secret|credential|password|token/.test(column))
      .map((column) => `${table}.${column}`),
  );
  // This column is sealed directly with the vault key, not with a data key.
  expect(suspects).toEqual(["vault_check.sealed"]);
});
