import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { SecretsService } from "@svc/gen/secrets";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { commandNames } from "../program.ts";
import { aboutDocument, asCommands } from "./error.ts";

const names = commandNames();
const services = [
  AdminService,
  CatalogService,
  ConnectionsService,
  ConsoleService,
  ContactsService,
  GrantsService,
  IdentityService,
  JobsService,
  SecretsService,
  ToolsService,
  TriggersService,
];
const methods = services.flatMap(({ typeName, methods: all }) => all.map(({ name }) => ({ typeName, name })));

test.each(methods)("a text of the server that names $name is shown with its command", ({ typeName, name }) => {
  const shown = asCommands(`Ask ${name} first.`);
  const [, command = ""] = /^Ask `svc ([a-z -]+?)(?: --[a-z-]+| <[a-z]+>)?` first\.$/.exec(shown) ?? [];
  expect(names, shown).toContain(command);
  expect(asCommands(`Ask ${typeName}/${name} first.`)).toBe(shown);
});

test("names of fields are shown as the options that set them, and other words stay", () => {
  expect(asCommands("toolkitSlug is unknown; set accountVariables.host, and list again")).toBe(
    "--toolkit is unknown; set --var host, and list again",
  );
});

test("a text about a document names its calls as commands, and its fields as the document does", () => {
  const help = "event has id, triggerSlug, entityId and payload; connect one with InitiateConnection";
  expect(aboutDocument(help)).toBe("event has id, triggerSlug, entityId and payload; connect one with `svc connect`");
});

test("what a person confirms, and who, are told as the options that say it", () => {
  const help =
    "Send person `never`, `destructive` or `writes`, and with the latter two the principalId of a contact that PutContact has put.";
  expect(asCommands(help)).toBe(
    "Give --confirm `never`, `destructive` or `writes`, and with the latter two --confirm-by with a contact that `svc contacts put` has put.",
  );
});

test("a part of a path is nobody's option or command", () => {
  for (const text of ['served under "/svc.v1.AdminService/CreateProject"', "steps.0.toolkitSlug is unknown"]) {
    expect(asCommands(text)).toBe(text);
  }
  expect(asCommands('limit.toolkitSlug "x" is not a toolkit')).toBe('--toolkit "x" is not a toolkit');
});
