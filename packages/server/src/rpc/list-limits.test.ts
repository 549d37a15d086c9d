import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { StatsService } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { readListLimits, sayListLimits } from "./list-limits.ts";

const services: readonly DescService[] = [
  ...[AdminService, CatalogService, ConnectionsService, ConsoleService, ContactsService, GrantsService],
  ...[IdentityService, JobsService, SecretsService, StandingService, StatsService, ToolsService, TriggersService],
];

const { listJobs, listSteps, getJob, listSkills } = JobsService.method;

/** Returns a call without the option that has this field number. */
function without(method: DescMethod, number: number): DescMethod {
  const { options } = method.proto;
  const $unknown = options?.$unknown?.filter(({ no }) => no !== number);
  return { ...method, proto: { ...method.proto, options: { ...options, $unknown } } } as unknown as DescMethod;
}

const withOptionsOf = (method: DescMethod, other: DescMethod) =>
  ({ ...method, proto: { ...method.proto, options: other.proto.options } }) as unknown as DescMethod;

test("every list and search that a scoped key may call declares how it hides rows", () => {
  for (const { methods } of services) for (const method of methods) expect(() => readListLimits(method)).not.toThrow();
  expect(readListLimits(listJobs).size).toBe(3);
  for (const method of [listSteps, getJob, listSkills]) expect(readListLimits(method).size).toBe(0);
});

test("a list without the declaration, or without the field in its answer, is refused at start", () => {
  const undeclared = without(listJobs, 50_107);
  const name = "svc.v1.JobsService/ListJobs";
  expect(() => readListLimits(undeclared)).toThrow(`${name} declares no list_limits`);
  const ofPortal = without(TriggersService.method.listSubscriptions, 50_107);
  expect(() => readListLimits(ofPortal)).toThrow("TriggersService/ListSubscriptions declares no list_limits");
  const service = { ...JobsService, methods: [undeclared] } as unknown as DescService;
  expect(() => sayListLimits(service, {})).toThrow(`${name} declares no list_limits`);
  expect(() => readListLimits(withOptionsOf(listJobs, listSteps))).toThrow("that its limited_to does not have");
  expect(() => readListLimits(withOptionsOf(listSteps, listJobs))).toThrow("that its limited_to does not have");
  expect(() => readListLimits(withOptionsOf(getJob, listJobs))).toThrow("and is not a list for scoped keys");
});
