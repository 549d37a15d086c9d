import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { SandboxService } from "@svc/gen/sandbox";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { StatsService } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { checkRequest } from "./check-request.ts";
import { createSvcClient, svcErrorDetails, timestampFromDate } from "./index.ts";
import { addToJson } from "./json.ts";

const services = [
  AdminService,
  CatalogService,
  ConnectionsService,
  ConsoleService,
  ContactsService,
  GrantsService,
  IdentityService,
  JobsService,
  SandboxService,
  SecretsService,
  StandingService,
  StatsService,
  ToolsService,
  TriggersService,
];
const methods = services.flatMap((service) => service.methods);

/** Returns a client that sends no requests. `sent` counts the requests that it would have sent. */
function untypedClient() {
  const sent: string[] = [];
  const fetch = async (url: string | URL | Request) => {
    sent.push(String(url));
    return new Response("{}", { headers: { "content-type": "application/json" } });
  };
  // biome-ignore lint/suspicious/noExplicitAny: code without types is what is tested.
  const svc: any = createSvcClient({ baseUrl: "http://127.0.0.1:1", apiKey: "key", fetch });
  return { svc, sent };
}

async function refusal(call: Promise<unknown>) {
  const err = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { message: (err as Error | undefined)?.message, details: svcErrorDetails(err) };
}

test("a field that a request lacks is refused by name, with the nearest one, and nothing is sent", async () => {
  const { svc, sent } = untypedClient();
  const { message, details } = await refusal(
    svc.triggers.createSubscription({ endpointUrl: "https://a.example", entityID: "ada" }),
  );
  expect(message).toContain("entityID: the field is unknown, so nothing was sent");
  expect(details).toMatchObject([{ reason: "REQUEST_MALFORMED", field: "entityID" }]);
  expect(details[0]?.help).toContain("CreateSubscriptionRequest has the fields endpointUrl, toolkitSlug, triggerSlug");
  expect(sent).toEqual([]);
});

test.each([
  ["triggers", "listEvents", { entity_id: "ada" }, "entity_id", /did you mean entityId\?/],
  ["triggers", "listEvents", { EntityID: "ada" }, "EntityID", /did you mean entityId\?/],
  ["triggers", "listEvents", { enttyId: "ada" }, "enttyId", /did you mean entityId\?/],
  ["triggers", "listEvents", { xyzzy: 1 }, "xyzzy", /unknown, so nothing was sent\. ListEventsRequest has/],
  ["triggers", "listEvents", { since: new Date(0) }, "since", /got a Date\. Write timestampFromDate/],
  ["triggers", "listEvents", { since: "2026-01-01T00:00:00Z" }, "since", /got a string\. Write timestampFromDate/],
  ["triggers", "listEvents", { since: { second: 1n } }, "since.second", /did you mean seconds\?/],
  ["triggers", "listEvents", { entityId: 4711 }, "entityId", /expected string/],
  ["triggers", "listEvents", { pageSize: "50" }, "pageSize", /expected number/],
  ["triggers", "listEvents", { withDeliveries: "no" }, "withDeliveries", /expected boolean/],
  ["triggers", "listEvents", "ada", "", /expected the fields of ListEventsRequest, got a string/],
  ["triggers", "listEvents", [], "", /got a list/],
  ["triggers", "getEventSettings", { all: true }, "all", /GetEventSettingsRequest has no fields/],
  ["connections", "initiateConnection", { basic: { userName: "a" } }, "basic.userName", /did you mean username\?/],
  ["jobs", "watchJob", { jobID: "x", afterSeq: 1 }, "jobID", /did you mean jobId/],
] as const)("%s.%s refuses %o at %s", async (service, method, request, field, message) => {
  const { svc, sent } = untypedClient();
  const call = method === "watchJob" ? firstOf(svc[service][method](request)) : svc[service][method](request);
  const told = await refusal(call);
  expect(told.message).toMatch(message);
  expect(told.details[0]?.field).toBe(field);
  expect(sent).toEqual([]);
});

test("absent, null and undefined fields, messages and times are taken", async () => {
  const { svc, sent } = untypedClient();
  await svc.triggers.listEvents({
    entityId: null,
    toolkitSlug: undefined,
    oddball: undefined,
    since: timestampFromDate(new Date(0)),
  });
  await svc.triggers.listEvents({ since: { seconds: 1n, nanos: 0 } });
  await svc.tools.searchTools(Object.assign(Object.create(null), { query: "x" }));
  expect(sent).toHaveLength(3);
});

test.each(methods.map(({ parent, name, input }) => [`${parent.name}.${name}`, input] as const))(
  "%s refuses a field that it does not have, at every depth",
  (_, input) => {
    expect(() => checkRequest(input, fromJson(input, sampleOf(input)))).not.toThrow();
    for (const [value, path] of withUnknownField(input)) {
      expect(() => checkRequest(input, value)).toThrow(`${path}: the field is unknown`);
    }
  },
);

test.each(methods.map(({ parent, name, output }) => [`${parent.name}.${name}`, output] as const))(
  "JSON.stringify writes the answer of %s, and each part of it, as the service does",
  (_, output) => {
    const message = fromJson(output, sampleOf(output));
    const expected = toJson(output, message, { alwaysEmitImplicit: true }) as JsonObject;
    addToJson(output, message);
    expect(JSON.parse(JSON.stringify(message))).toEqual(expected);
    for (const { localName, jsonName, scalar } of output.fields) {
      if (scalar !== undefined) continue;
      const part = (message as unknown as Record<string, unknown>)[localName];
      expect(JSON.parse(JSON.stringify({ part: part ?? null })).part).toEqual(
        partOf(output, localName, expected[jsonName]),
      );
    }
  },
);

test("answers of a client, lists and spreads of them are written by JSON.stringify", async () => {
  const answer = { events: [{ id: "evt_1", receivedAt: "2026-01-31T09:30:00Z" }] };
  const fetch = async () => Response.json(answer);
  const svc = createSvcClient({ baseUrl: "http://127.0.0.1:1", apiKey: "key", fetch });
  const { events } = await svc.triggers.listEvents({});
  expect(JSON.parse(JSON.stringify(events))).toMatchObject(answer.events);
  expect(JSON.parse(JSON.stringify({ ...events[0] }))).toMatchObject(answer.events[0] as JsonObject);
  // `toJSON` is hidden, so that comparing, copying and listing fields work as before.
  expect(Object.keys(events[0] as object)).not.toContain("toJSON");
});

test("messages of a stream are written by JSON.stringify", async () => {
  const event = { seq: 1, at: "2026-01-31T09:30:00Z" };
  const fetch = async () =>
    new Response(Buffer.concat([frame(0, { event }), frame(2, {})]), {
      headers: { "content-type": "application/connect+json" },
    });
  const svc = createSvcClient({ baseUrl: "http://127.0.0.1:1", apiKey: "key", fetch });
  const texts: string[] = [];
  for await (const message of svc.jobs.watchJob({ jobId: "job_1" })) texts.push(JSON.stringify(message));
  expect(texts.map((text) => JSON.parse(text))).toMatchObject([{ event }]);
});

test("an option that a client does not have is refused by name", () => {
  const options = { baseUrl: "http://127.0.0.1:1", apiKey: "key", timeoutMS: 5 };
  expect(() => createSvcClient(options)).toThrow(
    new TypeError('option "timeoutMS" is unknown: did you mean timeoutMs?'),
  );
});

/** Returns one frame of Connect's streaming protocol. */
function frame(flags: number, message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** Returns the first message of a stream. */
async function firstOf(stream: AsyncIterable<unknown>): Promise<unknown> {
  for await (const message of stream) return message;
  return undefined;
}

/** Returns a message as JSON in which every field is set. A message that contains its own type is not nested further. */
function sampleOf(desc: DescMessage, outer: readonly DescMessage[] = []): JsonObject {
  const entries = desc.fields.flatMap((field) => {
    const value = sampleValue(field, [...outer, desc]);
    if (value === undefined) return [];
    if (field.fieldKind === "list") return [[field.jsonName, [value, value]]];
    return [[field.jsonName, field.fieldKind === "map" ? { key: value } : value]];
  });
  return Object.fromEntries(entries);
}

function sampleValue(field: DescField, outer: readonly DescMessage[]): JsonValue | undefined {
  if (field.enum !== undefined) return field.enum.values.at(-1)?.name;
  if (field.message !== undefined) {
    if (field.message.typeName === "google.protobuf.Timestamp") return "2026-01-31T09:30:00Z";
    if (field.message.typeName === "google.protobuf.Duration") return "60s";
    return outer.includes(field.message) ? undefined : sampleOf(field.message, outer);
  }
  if (field.scalar === ScalarType.STRING) return "x";
  if (field.scalar === ScalarType.BOOL) return true;
  if (field.scalar === ScalarType.BYTES) return "AA==";
  return field.scalar === ScalarType.UINT64 ? "18446744073709551615" : 7;
}

/** Yields requests with one unknown field, at the top level or in a nested message, each with the path of that field. */
function* withUnknownField(desc: DescMessage, outer: readonly DescMessage[] = []): Generator<[unknown, string]> {
  yield [{ noSuchField: 1 }, "noSuchField"];
  for (const field of desc.fields) {
    if (field.message === undefined || outer.includes(field.message)) continue;
    for (const [inner, path] of withUnknownField(field.message, [...outer, desc])) {
      if (field.fieldKind === "message") yield [{ [field.localName]: inner }, `${field.localName}.${path}`];
      if (field.fieldKind === "list") yield [{ [field.localName]: [inner] }, `${field.localName}[0].${path}`];
      if (field.fieldKind === "map") yield [{ [field.localName]: { key: inner } }, `${field.localName}.key.${path}`];
    }
  }
}

/**
 * Returns a part of an answer in the form that JSON.stringify gives it. Enums are numbers in it, because only a message knows their names.
 */
function partOf(desc: DescMessage, localName: string, json: JsonValue | undefined): JsonValue | undefined {
  const field = desc.fields.find((candidate) => candidate.localName === localName);
  if (field?.enum === undefined) return json ?? null;
  const numberOf = (name: JsonValue) => field.enum?.values.find((value) => value.name === name)?.number ?? null;
  return Array.isArray(json) ? json.map(numberOf) : numberOf(json ?? null);
}
