import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ContactsService } from "@svc/gen/contacts";
import { JobsService } from "@svc/gen/jobs";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { pageWords } from "./page-words.ts";

test("a call that a hint names is named as the page that does it", () => {
  expect(pageWords("its toolkit has a.b; ListTools lists all")).toBe("its toolkit has a.b; the page Tools lists all");
  expect(pageWords("connect one with InitiateConnection, or name another entity")).toBe(
    "connect one with “Connect an account” on the page Accounts, or name another entity",
  );
});

test("whatever is no call stays as it is", () => {
  for (const text of ["use params.minValue", "a TypeError of ListThings", "SALES_CRM", "", "set SVC_ADMIN_TOKEN"])
    expect(pageWords(text)).toBe(text);
});

test("every list that the service can be asked for has its page, but what no page shows", () => {
  const services = [
    ...[AdminService, CatalogService, ConnectionsService, ContactsService, JobsService, ToolsService],
    TriggersService,
  ];
  const lists = services.flatMap(({ methods }) => methods.map(({ name }) => name)).filter((name) => /^List/.test(name));
  expect(lists.filter((name) => pageWords(name) === name).toSorted()).toEqual(["ListDeploymentSecrets", "ListHooks"]);
});
