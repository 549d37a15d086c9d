import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { JobsService } from "@svc/gen/jobs";
import { TriggersService } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { readCallRules } from "./required-role.ts";

const routerOf = (...methods: DescMethod[]) =>
  ({ handlers: methods.map((method) => ({ method, service: JobsService })) }) as unknown as Pick<
    ConnectRouter,
    "handlers"
  >;
const declared = JobsService.method.listSkills;
const without = (number: number): DescMethod => {
  const options = {
    ...declared.proto.options,
    $unknown: declared.proto.options?.$unknown?.filter(({ no }) => no !== number),
  };
  return { ...declared, proto: { ...declared.proto, options } } as unknown as DescMethod;
};

test("every call declares its role and its rule for scoped keys; otherwise the router is refused", () => {
  const { roles, unbound } = readCallRules(routerOf(declared, JobsService.method.listJobs));
  expect(roles.get(declared)).toBe("viewer");
  expect([unbound.has(declared), unbound.has(JobsService.method.listJobs)]).toEqual([true, false]);
  expect(() => readCallRules(routerOf(without(50_101)))).toThrow("JobsService/ListSkills declares no required_role");
  expect(() => readCallRules(routerOf(without(50_102)))).toThrow("JobsService/ListSkills declares no bound_key");
});

test("calls of the portal are those that declare it, each with whether it only reads; with another role than member it is refused", () => {
  const { getEventType, putEventType, rotateSubscriptionSecret } = TriggersService.method;
  const { portal } = readCallRules(routerOf(getEventType, putEventType, rotateSubscriptionSecret));
  expect([...portal]).toEqual([
    [getEventType, true],
    [rotateSubscriptionSecret, false],
  ]);
  const marks = getEventType.proto.options?.$unknown?.filter(({ no }) => no === 50_108) ?? [];
  const options = {
    ...putEventType.proto.options,
    $unknown: [...(putEventType.proto.options?.$unknown ?? []), ...marks],
  };
  const marked = { ...putEventType, proto: { ...putEventType.proto, options } } as unknown as DescMethod;
  expect(() => readCallRules(routerOf(marked))).toThrow("TriggersService/PutEventType declares portal");
});
