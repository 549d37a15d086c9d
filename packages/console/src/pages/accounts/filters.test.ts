import { expect, test } from "vitest";
import { accountsRequest, isFiltered, noDialog, readAccountsSearch } from "./filters.ts";

test("a toolkit to connect, and an account to connect anew, open the dialog, and it can be closed", () => {
  expect(readAccountsSearch({ connect: "calendar", for: "ada" })).toMatchObject({ dialog: "connect", for: "ada" });
  expect(readAccountsSearch({ like: "acc_1" }).dialog).toBe("connect");
  expect(readAccountsSearch({ ...readAccountsSearch({ like: "acc_1" }), ...noDialog }).dialog).toBeUndefined();
});

test("what is connected filters nothing", () => {
  const search = readAccountsSearch({ connect: "calendar", for: "ada", state: "expired" });
  expect(accountsRequest(search)).toMatchObject({ toolkitSlug: "", entityId: "", state: "expired" });
  expect(isFiltered({ ...search, state: undefined })).toBe(false);
});
