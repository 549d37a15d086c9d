import { create } from "@bufbuild/protobuf";
import { CallLimitSchema } from "@svc/gen/tools";
import { expect, test } from "vitest";
import { limitOf, limitWords, typedOf } from "./limit.ts";

const limit = create(CallLimitSchema, {
  ...{ name: "crm", toolkitSlug: "sales_crm", concurrency: 4 },
  rate: { max: 100, per: { seconds: 60n } },
});

test("a limit that is opened and sent unchanged is the same limit", () => {
  const { createdAt: _created, updatedAt: _updated, ...sent } = create(CallLimitSchema, limitOf(typedOf(limit)));
  expect(sent).toMatchObject({ name: "crm", toolkitSlug: "sales_crm", concurrency: 4, paused: false });
  expect(sent.rate).toMatchObject({ max: 100, per: { seconds: 60n } });
});

test("what is empty is no bound, and what is no number is sent so that it is refused", () => {
  expect(limitOf({ ...typedOf(undefined), concurrency: " " })).toMatchObject({ concurrency: 0 });
  expect(limitOf(typedOf(undefined))).not.toHaveProperty("rate");
  expect(limitOf({ ...typedOf(undefined), concurrency: "many" })).toMatchObject({ concurrency: -1 });
});

test("a limit says what it holds calls to", () => {
  expect(limitWords(limit)).toBe("4 at once, 100 in 1 min");
  expect(limitWords(create(CallLimitSchema, { paused: true }))).toBe("paused: no call goes");
});
