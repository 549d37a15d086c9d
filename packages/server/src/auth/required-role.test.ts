import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { JobsService } from "@svc/gen/jobs";
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

test("a call says by whom it may be made, and what it is to a bound key; a router with one that does not is none", () => {
  const { roles, unbound } = readCallRules(routerOf(declared, JobsService.method.listJobs));
  expect(roles.get(declared)).toBe("member");
  expect([unbound.has(declared), unbound.has(JobsService.method.listJobs)]).toEqual([true, false]);
  expect(() => readCallRules(routerOf(without(50_101)))).toThrow("JobsService/ListSkills declares no required_role");
  expect(() => readCallRules(routerOf(without(50_102)))).toThrow("JobsService/ListSkills declares no bound_key");
});
