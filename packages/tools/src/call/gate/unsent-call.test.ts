import { expect, test } from "vitest";
import { personalName } from "./unsent-call.ts";

test("a confirmation of a played call never names the same call of the real app, whose name stays as it was", () => {
  const call = { caller: { keyId: "key_1" }, callDigest: Buffer.from("ab", "hex"), idempotencyKey: undefined } as never;
  const [played, live] = [true, false].map((isSandbox) => personalName(call, "acc_1" as never, isSandbox));
  expect(played).not.toBe(live);
  // The SHA-256 of ["key_1","acc_1","ab",null], as earlier versions of svc stored it.
  expect(live).toBe("0aba7bdc569c1d8dff6eef0f3b3e34e0bc6930535a859c1c65ae942a7ae9ccec");
});
