import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, type HandlerContext } from "@connectrpc/connect";
import { fault, systemClock } from "@svc/core";
import { AdminService, type CreateApiKeyRequest, type SetProjectPolicyRequest } from "@svc/gen/admin";
import { Role } from "@svc/gen/options";
import { type ListDeliveriesRequest, type ListEventsRequest, TriggersService } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { runTestCommand, serveRoutes } from "./testing.ts";

const adminToken = "an-administrator-token-of-40-characters";
const createdAt = timestampFromMs(Date.UTC(2026, 0, 2));

function requireBearer(context: HandlerContext, bearer: string): void {
  if (context.requestHeader.get("authorization") === `Bearer ${bearer}`) return;
  throw fault({
    code: Code.Unauthenticated,
    reason: "API_KEY_INVALID",
    message: "the key is unknown",
    help: "Use another.",
  });
}

/** An AdminService of two projects, one a page. */
async function startAdmin() {
  const created: CreateApiKeyRequest[] = [];
  const policies: SetProjectPolicyRequest[] = [];
  const server = await serveRoutes((router) =>
    router.service(AdminService, {
      createProject: ({ name }, context) => {
        requireBearer(context, adminToken);
        return { project: { id: "prj_new", name } };
      },
      listProjects: ({ pageToken }) =>
        pageToken === ""
          ? { projects: [{ id: "prj_2", name: "billing", createdAt }], nextPageToken: "2" }
          : { projects: [{ id: "prj_1", name: "default", createdAt }] },
      createApiKey: (request) => {
        created.push(request);
        return { apiKey: { id: "key_1", projectId: request.projectId }, key: "svc_text" };
      },
      setProjectPolicy: (request) => {
        policies.push(request);
        return {};
      },
      listApiKeys: () => ({
        apiKeys: [
          { id: "key_2", role: Role.APPROVER, hint: "svc_ab", name: "deploy", lastUsedAt: createdAt },
          { id: "key_1", role: Role.MEMBER, name: "old", revokedAt: createdAt },
        ],
      }),
      revokeApiKey: ({ id }) => ({ apiKey: { id, revokedAt: createdAt } }),
    }),
  );
  return { server, created, policies, variables: { SVC_URL: server.url, SVC_ADMIN_TOKEN: adminToken } };
}

test("projects create prints the new project's id alone", async () => {
  const { server, variables } = await startAdmin();
  await using _ = server;
  const { code, printed, noted } = await runTestCommand(["projects", "create", "billing"], variables);
  expect({ code, printed, noted }).toEqual({ code: 0, printed: ["prj_new"], noted: [] });
});

test("projects list reads every page", async () => {
  const { server, variables } = await startAdmin();
  await using _ = server;
  const { printed } = await runTestCommand(["projects", "list"], variables);
  expect(printed).toEqual([
    "ID     CREATED                   NAME",
    "prj_2  2026-01-02T00:00:00.000Z  billing",
    "prj_1  2026-01-02T00:00:00.000Z  default",
  ]);
});

test("projects policy sets the whole policy of a project found by its name", async () => {
  const { server, policies, variables } = await startAdmin();
  await using _ = server;
  const urls = ["https://app.example.com/connected", "https://app.example.com/again"];
  const options = urls.flatMap((url) => ["--redirect-url", url]);
  const argv = ["projects", "policy", "billing", ...options, "--plan-approval", "destructive"];
  const { code, printed } = await runTestCommand(argv, variables);
  expect({ code, printed }).toEqual({
    code: 0,
    printed: [`redirect URLs  ${urls.join(", ")}`, "plan approval  destructive"],
  });
  expect(policies).toMatchObject([{ projectId: "prj_2", redirectUrls: urls, planApproval: "destructive" }]);
  const reset = await runTestCommand(["projects", "policy", "prj_1"], variables);
  expect(reset.printed).toEqual(["redirect URLs  loopback only", "plan approval  never"]);
  expect(policies[1]).toMatchObject({ projectId: "prj_1", redirectUrls: [], planApproval: "never" });
});

test("a call that a refusal names in full is one command in the text that is shown", async () => {
  await using server = await serveRoutes((router) =>
    router.service(AdminService, {
      listProjects: () => {
        throw fault({
          code: Code.PermissionDenied,
          reason: "X",
          message: "svc.v1.CatalogService/PublishToolkit needs it",
        });
      },
    }),
  );
  const variables = { SVC_URL: server.url, SVC_ADMIN_TOKEN: adminToken };
  const { noted } = await runTestCommand(["projects", "list"], variables);
  expect(noted).toEqual(["svc: `svc catalog publish` needs it (X)."]);
});

test("keys create finds the project by its name and prints the key alone on standard output", async () => {
  const { server, created, variables } = await startAdmin();
  await using _ = server;
  const options = ["--role", "approver", "--name", "deploy", "--expires-in", "90d"];
  const { code, printed, noted } = await runTestCommand(["keys", "create", ...options], variables);
  expect({ code, printed }).toEqual({ code: 0, printed: ["svc_text"] });
  expect(noted).toEqual(["key_1 (approver) of project prj_1. Keep the key: it is not shown again."]);
  const [request] = created;
  expect(request).toMatchObject({ projectId: "prj_1", role: Role.APPROVER, name: "deploy" });
  const expiresInMs = timestampMs(request?.expiresAt ?? createdAt) - systemClock.now();
  expect(expiresInMs / 86_400_000).toBeCloseTo(90, 2);
});

test("a project that no name fits is refused by name", async () => {
  const { server, variables } = await startAdmin();
  await using _ = server;
  const { code, noted } = await runTestCommand(["keys", "create", "--project", "nope"], variables);
  expect({ code, noted }).toEqual({
    code: 1,
    noted: ['svc: there is no project "nope"; `svc projects list` shows those there are'],
  });
});

test("keys list shows state and use, and keys revoke ends one", async () => {
  const { server, variables } = await startAdmin();
  await using _ = server;
  const { printed } = await runTestCommand(["keys", "list"], variables);
  expect(printed).toEqual([
    "ID     ROLE      HINT    STATE    LAST USED                 NAME",
    "key_2  approver  svc_ab  valid    2026-01-02T00:00:00.000Z  deploy",
    "key_1  member            revoked  -                         old",
  ]);
  const revoked = await runTestCommand(["keys", "revoke", "key_2"], variables);
  expect(revoked.printed).toEqual(["key_2 is revoked since 2026-01-02T00:00:00.000Z"]);
});

test("a refusal of the service is one line with its reason and help", async () => {
  const { server, variables } = await startAdmin();
  await using _ = server;
  const argv = ["projects", "create", "billing", "--admin-token", "another"];
  expect(await runTestCommand(argv, variables)).toEqual({
    code: 1,
    printed: [],
    noted: [
      `svc: the key is unknown (API_KEY_INVALID). Use another. ${server.url} answered; the token is that of --admin-token.`,
    ],
  });
});

/** A TriggersService with two events and one delivery, for the key in `first-key`. */
async function startTriggers() {
  const requests: (ListEventsRequest | ListDeliveriesRequest)[] = [];
  const deliveries = [
    {
      id: "dlv_1",
      eventId: "evt_1",
      subscriptionId: "sub_1",
      state: "dead_letter",
      attempts: 3,
      lastError: "http_500",
    },
  ];
  const server = await serveRoutes((router) =>
    router.service(TriggersService, {
      listEvents: (request, context) => {
        requireBearer(context, "svc_first");
        requests.push(request);
        return {
          events: ["evt_2", "evt_1"].map((id) => ({
            id,
            triggerSlug: "calendar.events_changed",
            receivedAt: createdAt,
          })),
        };
      },
      listDeliveries: (request) => {
        requests.push(request);
        return { deliveries };
      },
      replayEvent: ({ eventId }) => ({ deliveries: eventId === "evt_1" ? deliveries : [] }),
    }),
  );
  return { server, requests };
}

test("events are listed with the first key of the data folder when no other is given", async () => {
  const { server, requests } = await startTriggers();
  await using _ = server;
  const dataDir = await mkdtemp(join(tmpdir(), "svc-cli-"));
  await writeFile(join(dataDir, "first-key"), "svc_first\n");
  const variables = { SVC_URL: server.url, SVC_DATA_DIR: dataDir };
  const { printed } = await runTestCommand(["events", "--limit", "1", "--toolkit", "calendar"], variables);
  await rm(dataDir, { recursive: true });
  expect(printed).toEqual([
    "RECEIVED                  ID     TRIGGER                  ENTITY",
    "2026-01-02T00:00:00.000Z  evt_2  calendar.events_changed  -",
  ]);
  expect(requests).toMatchObject([{ toolkitSlug: "calendar", triggerSlug: "", pageSize: 1 }]);
});

test("deliveries of an event are listed, and replay lists the fresh ones", async () => {
  const { server, requests } = await startTriggers();
  await using _ = server;
  const variables = { SVC_URL: server.url, SVC_API_KEY: "key" };
  const lines = [
    "ID     SUBSCRIPTION  STATE        ATTEMPTS  LAST ATTEMPT  LAST ERROR",
    "dlv_1  sub_1         dead_letter  3         -             http_500",
  ];
  expect((await runTestCommand(["deliveries", "--event", "evt_1"], variables)).printed).toEqual(lines);
  expect(requests).toMatchObject([{ eventId: "evt_1", subscriptionId: "" }]);
  expect((await runTestCommand(["replay", "evt_1"], variables)).printed).toEqual(lines);
  for (const [command, id] of [
    ["events", "evt_2"],
    ["deliveries", "dlv_1"],
  ] as const) {
    const json = await runTestCommand([command, "--json", "--api-key", "svc_first"], variables);
    expect(JSON.parse(json.printed.join("\n"))[0]).toMatchObject({ id });
  }
  const unmatched = await runTestCommand(["replay", "evt_2"], variables);
  expect(unmatched.noted).toEqual(["No active subscription matches the event: nothing is queued."]);
});
