import { expect, test } from "vitest";
import { accountsSearch, noDialog } from "./filters.ts";

const { isFiltered, read, request } = accountsSearch;

test("a toolkit to connect, and an account to connect anew, open the dialog, and it can be closed", () => {
  expect(read({ connect: "calendar", for: "ada" })).toMatchObject({ dialog: "connect", for: "ada" });
  expect(read({ like: "acc_1" }).dialog).toBe("connect");
  expect(read({ ...read({ like: "acc_1" }), ...noDialog }).dialog).toBeUndefined();
});

test("what is connected filters nothing", () => {
  const search = read({ connect: "calendar", for: "ada", state: "expired" });
  expect(request(search, 0)).toMatchObject({ toolkitSlug: "", entityId: "", state: "expired" });
  expect(isFiltered({ ...search, state: undefined })).toBe(false);
});
