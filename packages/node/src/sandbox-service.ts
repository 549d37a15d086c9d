import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { catalogFaults, isPlayed, type Toolkit } from "@svc/catalog";
import { connectionFaults } from "@svc/connections";
import { isEntityId, type ProjectPrincipal, requireProject } from "@svc/core";
import { findActiveAccounts } from "@svc/db/connections/find-callable";
import {
  type ConnectedAccountSchema,
  type ConnectionsService,
  GetConnectionRequestSchema,
  InitiateConnectionRequestSchema,
} from "@svc/gen/connections";
import type { SandboxService } from "@svc/gen/sandbox";
import { inboxPrefix, type Sandbox, sandboxFaults } from "@svc/sandbox";
import {
  countOtherReceivers,
  storeSampleEvent,
  subscribeInbox,
  type TriggersContext,
  triggerFaults,
  webhookToolkit,
} from "@svc/triggers";
import type { Apps } from "./apps.ts";
import type { NodeParts } from "./parts.ts";

/** Dependencies of SandboxService. It makes its changes through the methods of the other services. */
type SandboxServiceOptions = Pick<NodeParts, "db" | "sandboxMode" | "publicUrl"> & {
  readonly apps: Apps;
  readonly triggers: TriggersContext;
  readonly connectionMethods: ServiceImpl<typeof ConnectionsService>;
};

/** Creates SandboxService, with which a project tries svc without a real app or a server. */
export function createSandboxService(options: SandboxServiceOptions): ServiceImpl<typeof SandboxService> {
  const { apps, triggers, publicUrl } = options;
  const requireSandbox = (ctx: HandlerContext): ProjectPrincipal & { readonly sandbox: Sandbox } => {
    if (apps.sandbox === undefined) throw sandboxFaults.SANDBOX_OFF();
    return { ...requireProject(ctx), sandbox: apps.sandbox };
  };
  return {
    async sendSampleEvent({ triggerSlug, toAllReceivers }, ctx) {
      const { projectId, sandbox } = requireSandbox(ctx);
      const sampled = await chooseSample(options, await triggers.views.forProject(projectId), triggerSlug);
      const { slug } = sampled.toolkit;
      const inboxId = sandbox.inboxes.idOf(projectId, slug);
      const inbox = { projectId, toolkitSlug: slug, endpointUrl: inboxUrl(publicUrl(), inboxId) };
      const others = await countOtherReceivers(triggers, inbox, sampled.trigger.slug);
      if (!toAllReceivers && others.subscriptions + others.schedules > 0)
        throw sandboxFaults.SANDBOX_SAMPLE_SHARED(sampled.trigger.slug, others);
      const subscriptionId = await subscribeInbox(triggers, inbox);
      const stored = await storeSampleEvent(triggers, { projectId, ...sampled, publicUrl: publicUrl() });
      if ("fault" in stored) throw sandboxFaults.SANDBOX_SAMPLE_MISSING(stored.fault);
      const { eventId, payload: payloadJson } = stored;
      return { eventId, triggerSlug: stored.triggerSlug, payloadJson, subscriptionId, inboxId };
    },

    async createInbox(_request, ctx) {
      const { projectId, sandbox } = requireSandbox(ctx);
      const inboxId = sandbox.inboxes.idOf(projectId);
      return { inboxId, url: inboxUrl(publicUrl(), inboxId) };
    },

    async listInboxRequests({ inboxId }, ctx) {
      const { projectId, sandbox } = requireSandbox(ctx);
      const requests = sandbox.inboxes.list(projectId, inboxId);
      if (requests === undefined) throw sandboxFaults.INBOX_NOT_FOUND(inboxId);
      return {
        requests: requests.map(({ receivedAtMs, ...request }) => ({
          ...request,
          receivedAt: timestampFromMs(receivedAtMs),
        })),
      };
    },

    async connectSandboxAccounts({ entityId, toolkitSlugs }, ctx) {
      const caller = requireSandbox(ctx);
      if (!isEntityId(entityId)) throw connectionFaults.ENTITY_ID_INVALID(entityId);
      if (toolkitSlugs.length === 0 || toolkitSlugs.length > appsMax)
        throw sandboxFaults.TOOLKIT_SLUGS_INVALID(toolkitSlugs.length, appsMax);
      const view = await triggers.views.forProject(caller.projectId);
      const toolkits = toolkitSlugs.map((slug) => {
        const toolkit = view.toolkits.get(slug);
        if (toolkit === undefined) throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlugs", slug, view);
        if (!isPlayed(toolkit, options.sandboxMode)) throw sandboxFaults.SANDBOX_APP_LIVE(slug);
        return toolkit;
      });
      const accounts = [];
      for (const toolkit of toolkits) accounts.push(await connectPlayed(options, { caller, entityId, toolkit, ctx }));
      return { accounts };
    },
  };
}

/** Maximum number of apps that one call connects. */
const appsMax = 20;

function inboxUrl(publicUrl: string, inboxId: string): string {
  return `${publicUrl.replace(/\/+$/, "")}${inboxPrefix}${inboxId}`;
}

/** Returns the trigger whose sample is sent, with its app. Throws the refusals of SendSampleEvent. */
async function chooseSample(
  { sandboxMode }: SandboxServiceOptions,
  view: Awaited<ReturnType<TriggersContext["views"]["forProject"]>>,
  triggerSlug: string,
) {
  const slugs = [...view.triggers.keys()].toSorted();
  const played = slugs.find((slug) => {
    const toolkit = webhookToolkit(view, view.triggers.get(slug)?.toolkitSlug ?? "");
    return toolkit !== undefined && isPlayed(toolkit, sandboxMode);
  });
  const slug = triggerSlug || played;
  if (slug === undefined) throw sandboxFaults.SANDBOX_SAMPLE_MISSING("no app in the sandbox posts webhooks");
  const trigger = view.triggers.get(slug);
  if (trigger === undefined) throw triggerFaults.TRIGGER_NOT_FOUND(slug.split(".")[0] ?? "", slug);
  const toolkit = webhookToolkit(view, trigger.toolkitSlug);
  if (toolkit === undefined)
    throw sandboxFaults.SANDBOX_SAMPLE_MISSING(`the app of the trigger ${slug} posts no webhooks`);
  if (!isPlayed(toolkit, sandboxMode)) throw sandboxFaults.SANDBOX_APP_LIVE(toolkit.slug);
  return { toolkit, trigger };
}

type PlayedApp = {
  readonly caller: ProjectPrincipal & { readonly sandbox: Sandbox };
  readonly entityId: string;
  readonly toolkit: Toolkit;
  readonly ctx: HandlerContext;
};

/**
 * Returns the active account of a user for an app that the sandbox plays. Connects one if there is none. If the app uses OAuth alone, goes
 * through the pages of a consent as a browser would.
 */
async function connectPlayed(
  { db, apps, connectionMethods }: SandboxServiceOptions,
  { caller, entityId, toolkit, ctx }: PlayedApp,
): Promise<MessageInitShape<typeof ConnectedAccountSchema>> {
  const { slug: toolkitSlug } = toolkit;
  const read = async (id: string) => {
    const { account } = await connectionMethods.getConnection(create(GetConnectionRequestSchema, { id }), ctx);
    return account ?? {};
  };
  const definition = { toolkitSlug, isPrivate: toolkit.ownerProjectId !== "", isSandbox: true };
  const known = await findActiveAccounts(db, { ...definition, projectId: caller.projectId, entityId });
  const own = known.find((row) => row.entityId === entityId);
  if (own !== undefined) return read(own.id);
  const accountVariables = Object.fromEntries(toolkit.account.map(({ name, example }) => [name, example]));
  const scheme = schemeOf(toolkit);
  const request = create(InitiateConnectionRequestSchema, { toolkitSlug, entityId, scheme, accountVariables });
  const { account = {}, authorizeUrl = "" } = await connectionMethods.initiateConnection(request, ctx);
  if (authorizeUrl === "") return requireActive(account, toolkitSlug);
  const { pages } = apps;
  const started = await pages.handleOauthStart(new URL(authorizeUrl), {});
  const consented = caller.sandbox.oauth.allow(new URL(started.headers["location"] ?? ""));
  const [cookie] = (started.headers["set-cookie"] ?? "").split(";");
  if ("redirect" in consented) await pages.handleOauthCallback(new URL(consented.redirect), { cookie });
  return requireActive(await read(account.id ?? ""), toolkitSlug);
}

type Ended = { readonly state?: string | undefined; readonly lastError?: string | undefined };

function requireActive<Account extends Ended>(account: Account, toolkitSlug: string): Account {
  const { state = "pending", lastError = "" } = account;
  if (state !== "active")
    throw sandboxFaults.SANDBOX_CONSENT_FAILED(toolkitSlug, lastError || `the account is ${state}`);
  return account;
}

/** Returns the scheme with which a made-up account is connected: one that needs no consent, if the app has one. */
function schemeOf({ auth }: Toolkit): string {
  const schemes = auth.map(({ type }) => type).filter((type) => type !== "client_credentials");
  return schemes.find((type) => type !== "oauth2") ?? schemes[0] ?? "";
}
