import { expect, test } from "vitest";
import { readConfirmation } from "./confirmations.ts";

test("the question whether a call may be sent falls into what it asks, who made the call, and its arguments", () => {
  const asks = 'Carry out sales_crm.delete_deal (destructive) with the account of "ada"?';
  const asker = 'Asked for by the key "Deal helper".';
  expect(readConfirmation(`${asks} ${asker} Arguments: {"deal_id":7}`)).toEqual({
    ...{ asks, asker, args: '{\n  "deal_id": 7\n}' },
  });
  expect(readConfirmation(`${asks} Arguments: {}`)).toEqual({ asks, asker: "", args: "{}" });
  expect(readConfirmation("12 reminders would go out. Send them?")).toBeUndefined();
});
