import { isDeepStrictEqual } from "node:util";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  createTenantValidators,
  type JsonSchema,
  readEventSchema,
  type SchemaValidator,
  sampleOfSchema,
} from "@svc/catalog";
import { byText, createSlices, type PortalAccess, type ProjectId, projectList, requireProject } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import {
  type EventTypeRow,
  eventTypesForProject,
  type StoredEventSettings,
  versionsMax,
} from "@svc/db/event-types/repo";
import { eventsForProject } from "@svc/db/events/repo";
import type { DescribedForm } from "@svc/delivery";
import {
  EventDocumentFormat,
  EventDocumentFormatSchema,
  type EventType,
  EventTypeSchema,
  PortalSettingsSchema,
  type PutEventTypeRequest,
  type PutEventTypeResponseSchema,
  type TriggersService,
  UnknownEventTypes,
} from "@svc/gen/triggers";
import { type SchemaTrial, triggerFaults } from "../errors.ts";
import { writeEventDocument } from "../own/document.ts";
import { type NextTurn, parsePayload, readPayload } from "../own/payload.ts";
import { isEventTypeName } from "../own/publish.ts";
import { eventsToolkitSlug, eventTriggerSlug, eventTypesMax } from "../own/toolkit.ts";
import type { TriggersContext } from "./context.ts";
import { readPortalLook } from "./portal-look.ts";
import { largePages } from "./request.ts";

type Methods = Pick<
  ServiceImpl<typeof TriggersService>,
  "putEventType" | "getEventType" | "listEventTypes" | "getEventDocument" | "putEventSettings" | "getEventSettings"
>;

/** Returns the methods of event types and of the settings for a project's own events. */
export function eventTypeMethods(context: TriggersContext): Methods {
  const { db, sealer, turns } = context;
  return {
    async putEventType(req, ctx) {
      const { projectId } = requireProject(ctx);
      if (!isEventTypeName(req.name)) throw triggerFaults.EVENT_TYPE_NAME_INVALID("name", req.name);
      requireFields(req.updateMask);
      // Another request may change the type after its kept fields were read. Then the request starts again with the changed type.
      for (;;) {
        const answer = await putOver(context, projectId, req);
        if (answer !== undefined) return answer;
      }
    },

    async getEventType({ name, version }, ctx) {
      const { projectId, portal } = requireProject(ctx);
      const types = eventTypesForProject(db, projectId);
      const [type] = await types.find([name]);
      if (type === undefined || !isShown(type, portal)) throw triggerFaults.EVENT_TYPE_NOT_FOUND("name", name);
      const old = version === 0 ? undefined : await types.schemaOf(name, version);
      if (version !== 0 && old === undefined) throw triggerFaults.EVENT_TYPE_NOT_FOUND("name", name, version);
      const versions = await types.versions(name, versionsMax);
      return {
        eventType: typeMessage(old === undefined ? type : { ...type, version, schema: old.schema }),
        versions: versions.map((one) => ({ version: one.version, createdAt: timestampFromMs(one.createdAt) })),
      };
    },

    listEventTypes: projectList(sealer, {
      call: "ListEventTypes",
      order: byText(({ name }: EventTypeRow) => name),
      sizes: largePages,
      async rows({ page: { after = "", limit }, caller: { projectId, portal } }) {
        const types = eventTypesForProject(db, projectId);
        const page = { after, limit, isOffered: portal !== undefined };
        const sizes = await types.sizes(page);
        const fitting = fittingCount(sizes.map(({ bytes }) => bytes));
        const rows = await types.list({ ...page, limit: fitting });
        return fitting < sizes.length ? { rows, walkedTo: rows.at(-1)?.name } : rows;
      },
      answer: (rows) => ({ eventTypes: rows.map(typeMessage) }),
    }),

    async getEventDocument({ format, delivery, types: names }, ctx) {
      const { projectId, portal } = requireProject(ctx);
      const known = documentFormats.get(format);
      const form = describedForms.find((one) => one === (delivery || "svc"));
      const refuse = triggerFaults.EVENT_DOCUMENT_FORMAT_INVALID;
      if (known === undefined)
        throw refuse(
          "format",
          String(EventDocumentFormatSchema.value[format]?.localName ?? format),
          "ASYNCAPI_3 or OPENAPI_3_1",
        );
      if (form === undefined) throw refuse("delivery", delivery, describedForms.join(", "));
      const types = eventTypesForProject(db, projectId);
      const pages = names.length === 0 ? activeTypes(types, portal) : namedTypes(types, names, portal);
      const turn = () => turns.next(`project:${projectId}`);
      return { documentJson: await writeEventDocument(pages, { format: known, form, turn }) };
    },

    async putEventSettings({ settings }, ctx) {
      const { projectId } = requireProject(ctx);
      const unknownTypes = settings?.unknownTypes === UnknownEventTypes.CREATE ? "create" : "refuse";
      const portal = settings?.portal && readPortalLook(settings.portal);
      const stored = await eventTypesForProject(db, projectId).putSettings({ unknownTypes, portal });
      return { settings: settingsMessage(stored) };
    },

    async getEventSettings(_req, ctx) {
      const { projectId } = requireProject(ctx);
      const settings = await eventTypesForProject(db, projectId).settings();
      return { settings: settingsMessage(settings ?? { unknownTypes: "refuse", logo: null }) };
    },
  };
}

/**
 * Stores an event type over the stored one. Returns undefined, and stores nothing, if the request has an update mask and another request
 * changed the type at the same time. Throws the faults of PutEventType.
 */
async function putOver(
  { db, views, clock, turns }: TriggersContext,
  projectId: ProjectId,
  req: PutEventTypeRequest,
): Promise<MessageInitShape<typeof PutEventTypeResponseSchema> | undefined> {
  const { name, dryRun, breaking } = req;
  const types = eventTypesForProject(db, projectId);
  const [before] = await types.find([name]);
  const { description, archived, offered, ...sent } = withKeptFields(req, before);
  if ([...description].length > descriptionCharactersMax || description.includes("\0"))
    throw triggerFaults.EVENT_TYPE_DESCRIPTION_INVALID(descriptionCharactersMax);
  const { schema, validate } = readSchema(sent.schemaJson);
  const turn = () => turns.next(`project:${projectId}`);
  const sample = await readSample(sent, { schema, validate }, turn);
  const schemaText = schema === undefined ? "" : JSON.stringify(schema);
  const isTried = validate !== undefined && before !== undefined && before.schema !== schemaText;
  const trial = isTried ? await trySchema(db, { projectId, name, validate, turn }) : noTrial;
  if (trial.failing > 0 && !breaking && !dryRun) throw triggerFaults.EVENT_TYPE_BREAKING(name, trial);
  const nowMs = clock.now();
  const type = { name, schema: schemaText, description, sample, archivedAt: archived ? nowMs : null, offered };
  const isFrom = (stored: EventTypeRow | undefined) => isDeepStrictEqual(stored, before);
  const how = { most: eventTypesMax, isTrial: dryRun, ...(req.updateMask.length > 0 && { isFrom }) };
  const put = await types.put(type, nowMs, how);
  if (put.outcome === "changed") return undefined;
  views.forget(projectId);
  if (put.outcome === "other_case") throw triggerFaults.EVENT_TYPE_NAME_INVALID("name", name, put.name);
  if (put.outcome === "too_many") throw triggerFaults.EVENT_TYPES_TOO_MANY(eventTypesMax);
  const failures = trial.failures.map(({ eventId, faults }) => ({ eventId, faults: [...faults] }));
  return { eventType: typeMessage(put.type), checked: trial.checked, failing: trial.failing, failures };
}

/** The fields of an event type that a caller can change one by one. */
const changeable = ["description", "schemaJson", "sampleJson", "archived", "offered"] as const;

/** Throws UPDATE_MASK_INVALID if a path of an update mask names no field of an event type. */
function requireFields(mask: readonly string[]): void {
  const paths: readonly string[] = ["name", ...changeable];
  const at = mask.findIndex((path) => !paths.includes(path));
  if (at >= 0) throw triggerFaults.UPDATE_MASK_INVALID(`updateMask[${at}]`, mask[at] ?? "", paths);
}

type SentFields = Pick<EventType, (typeof changeable)[number]>;

/** The fields of an event type to store. `isSampleKept`: true if the sample is the stored one, and not one of the request. */
type FieldsToStore = SentFields & { readonly isSampleKept: boolean };

/**
 * Returns the fields of the event type to store. If the request has an update mask and the type exists, the fields that the mask does not
 * name are the stored ones. `before`: the stored type.
 */
function withKeptFields(
  sent: SentFields & { readonly updateMask: readonly string[] },
  before: EventTypeRow | undefined,
): FieldsToStore {
  if (before === undefined || sent.updateMask.length === 0) return { ...sent, isSampleKept: false };
  const kept = changeable.filter((field) => !sent.updateMask.includes(field));
  const stored = typeMessage(before);
  const fields = Object.fromEntries(kept.map((field) => [field, stored[field]]));
  return { ...sent, ...fields, isSampleKept: kept.includes("sampleJson") };
}

/** Maximum bytes of schemas and samples in a page of event types. A page has at least one type. */
const pageBytesMax = 4_194_304;

/**
 * Returns how many event types from the start of the list fit on one page. `sizes`: the size of each type in bytes. The first type always
 * fits.
 */
function fittingCount(sizes: readonly number[]): number {
  let [count, bytes] = [0, 0];
  for (const size of sizes) {
    bytes += size;
    if (bytes > pageBytesMax) break;
    count++;
  }
  return Math.min(sizes.length, Math.max(1, count));
}

/** True if a caller may see an event type. In the portal, only types that the project offers are shown. */
function isShown({ offered }: EventTypeRow, portal: PortalAccess | undefined): boolean {
  return portal === undefined || offered;
}

const descriptionCharactersMax = 1_000;

const documentFormats = new Map<EventDocumentFormat, "openapi" | "asyncapi">([
  [EventDocumentFormat.ASYNCAPI_3, "asyncapi"],
  [EventDocumentFormat.OPENAPI_3_1, "openapi"],
]);

const describedForms: readonly DescribedForm[] = ["svc", "standard", "cloudevents"];

type EventTypes = ReturnType<typeof eventTypesForProject>;

/** Number of event types that one database statement reads. The number is small, because each type may have a megabyte. */
const typesAtOnce = 16;

/** Returns the event types that are not archived, in pages. */
async function* activeTypes(
  types: EventTypes,
  portal: PortalAccess | undefined,
): AsyncGenerator<readonly EventTypeRow[]> {
  for (let after: string | undefined = ""; after !== undefined; ) {
    const page: readonly EventTypeRow[] = await types.list({
      ...{ after, limit: typesAtOnce, isOffered: portal !== undefined },
    });
    yield page.filter(({ archivedAt }) => archivedAt === null);
    after = page.length < typesAtOnce ? undefined : page.at(-1)?.name;
  }
}

/** Returns the event types with these names, in pages. Throws EVENT_TYPE_NOT_FOUND. */
async function* namedTypes(
  types: EventTypes,
  given: readonly string[],
  portal: PortalAccess | undefined,
): AsyncGenerator<readonly EventTypeRow[]> {
  const names = [...new Set(given)];
  for (let at = 0; at < names.length; at += typesAtOnce) {
    const wanted = names.slice(at, at + typesAtOnce);
    const page = (await types.find(wanted.filter(isEventTypeName))).filter((type) => isShown(type, portal));
    const missing = wanted.find((name) => !page.some((type) => type.name === name));
    if (missing !== undefined) throw triggerFaults.EVENT_TYPE_NOT_FOUND("types", missing);
    yield page;
  }
}

function settingsMessage({ unknownTypes, portal, logo }: StoredEventSettings) {
  return {
    unknownTypes: unknownTypes === "create" ? UnknownEventTypes.CREATE : UnknownEventTypes.REFUSE,
    ...(portal && {
      portal: create(PortalSettingsSchema, {
        ...{ name: portal.name, color: portal.color, origins: [...portal.origins] },
        logo: new Uint8Array(logo ?? []),
      }),
    }),
  };
}

function typeMessage({ name, description, schema, sample, version, archivedAt, offered, ...row }: EventTypeRow) {
  return create(EventTypeSchema, {
    ...{ name, description, version, offered },
    schemaJson: schema,
    sampleJson: sample,
    archived: archivedAt !== null,
    createdAt: timestampFromMs(row.createdAt),
    updatedAt: timestampFromMs(row.updatedAt),
  });
}

type ReadSchema = { readonly schema: JsonSchema | undefined; readonly validate: SchemaValidator | undefined };

function readSchema(schemaJson: string): ReadSchema {
  if (schemaJson === "") return { schema: undefined, validate: undefined };
  const read = readEventSchema(schemaJson);
  if ("faults" in read) throw triggerFaults.EVENT_SCHEMA_INVALID(read.faults);
  return { schema: read.schema, validate: createTenantValidators()(read.schema) };
}

/**
 * Returns the sample of an event type as JSON text: the given sample, or a made-up one. Empty if svc cannot make one that satisfies the
 * schema. A kept sample that does not satisfy the schema is replaced by a made-up one; a sent one throws EVENT_SAMPLE_INVALID.
 */
async function readSample(
  { sampleJson, isSampleKept }: Pick<FieldsToStore, "sampleJson" | "isSampleKept">,
  { schema, validate }: ReadSchema,
  turn: NextTurn,
): Promise<string> {
  const read = sampleJson === "" ? undefined : await readPayload(sampleJson, validate, turn);
  if (read !== undefined && !("faults" in read)) return read.text;
  if (read !== undefined && !isSampleKept) throw triggerFaults.EVENT_SAMPLE_INVALID(read.faults);
  return schema === undefined ? "{}" : (JSON.stringify(sampleOfSchema(schema)) ?? "");
}

/** Maximum number of stored events on which a schema is tried. They are read in pages, because a payload may have a megabyte. */
const triedMax = 1_000;
const pageSize = 50;
const failuresMax = 5;

const noTrial: SchemaTrial = { checked: 0, failing: 0, failures: [] };

/**
 * Tries a schema on the latest stored events of a type, at most 1,000. Returns how many events were tried, how many failed, and the first
 * failures.
 */
async function trySchema(
  db: Executor,
  {
    projectId,
    name,
    validate,
    turn,
  }: {
    readonly projectId: ProjectId;
    readonly name: string;
    readonly validate: SchemaValidator;
    readonly turn: NextTurn;
  },
): Promise<SchemaTrial> {
  const filter = {
    ...{ toolkitSlug: eventsToolkitSlug, triggerSlug: eventTriggerSlug(name) },
    ...{ sinceMs: undefined, untilMs: undefined },
  };
  const failures: SchemaTrial["failures"][number][] = [];
  let [checked, failing] = [0, 0];
  const slices = createSlices(turn);
  for (let after: EventRowId; checked < triedMax; ) {
    const page = await eventsForProject(db, projectId).list(filter, { after, limit: pageSize });
    for (const { id, payload } of page) {
      const faults = validate(await parsePayload(payload, slices.turn));
      await slices.rest();
      checked++;
      if (faults.length === 0) continue;
      failing++;
      if (failures.length < failuresMax) failures.push({ eventId: id, faults });
    }
    if (page.length < pageSize) break;
    after = page.at(-1)?.id;
  }
  return { checked, failing, failures };
}

type EventRowId = SchemaTrial["failures"][number]["eventId"] | undefined;
