import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { call, Fault, systemClock, text } from "@svc/core";
import { AdminService, type CreateApiKeyRequest, type SetProjectPolicyRequest } from "@svc/gen/admin";
import { Role } from "@svc/gen/options";
import { serveRoutes } from "@svc/testing/http";
import { expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

const adminToken = "an-administrator-token-of-40-characters";
const createdAt = timestampFromMs(Date.UTC(2026, 0, 2));
const policy = { planApproval: "always", redirectUrls: ["https://a/"], quotas: { posts: 7, jobs: 9 } };

function requireBearer(context: HandlerContext, bearer: string): void {
  if (context.requestHeader.get("authorization") === `Bearer ${bearer}`) return;
  throw new Fault("unauthenticated", "the key is unknown", [{ reason: "API_KEY_INVALID", help: "Use another." }]);
}

/** Starts an AdminService that has two projects and returns one per page. */
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
          ? {
              projects: [{ id: "prj_2", name: "billing", createdAt, policy }],
              nextPageToken: "2",
            }
          : { projects: [{ id: "prj_1", name: "default", createdAt }] },
      createApiKey: (request) => {
        created.push(request);
        return { apiKey: { id: "key_1", projectId: request.projectId }, key: "svc_text" };
      },
      setProjectPolicy: (request) => {
        policies.push(request);
        const { http, confirm, planApproval, redirectUrls } = request;
        const changed = { planApproval, redirectUrls, http: { hosts: http?.hosts ?? [] } };
        return { project: { policy: { ...changed, ...(confirm && { confirm }) } } };
      },
      getProjectUsage: ({ projectId }) => ({
        quotas: [
          { name: "calls", used: 12, most: 100, isDefault: false, scope: "node", refused: 3 },
          { name: "storedBytes", used: 5e9, most: -1, isDefault: true, scope: "deployment" },
        ],
        nodeId: `node_of_${projectId}`,
        calls: projectId === "prj_1" ? 1 : 400,
        posts: projectId === "prj_1" ? 1 : 0,
      }),
      listApiKeys: () => ({
        apiKeys: [
          { id: "key_2", role: Role.APPROVER, hint: "svc_ab", name: "deploy", lastUsedAt: createdAt },
          {
            id: "key_1",
            role: Role.MEMBER,
            name: "old",
            revokedAt: createdAt,
            entityId: "ada",
            toolkitSlugs: ["calendar"],
            confirm: { person: "writes", contact: "lead" },
            makerKeyId: "key_2",
          },
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

test("projects policy sets redirect URLs and plan approval of a project found by its name, sends no quotas, and says so", async () => {
  const { server, policies, variables } = await startAdmin();
  await using _ = server;
  const urls = ["https://app.example.com/connected", "https://app.example.com/again"];
  const options = urls.flatMap((url) => ["--redirect-url", url]);
  const argv = ["projects", "policy", "billing", ...options, "--plan-approval", "destructive"];
  const { code, printed } = await runTestCommand(argv, variables);
  expect({ code, printed }).toEqual({
    code: 0,
    printed: [
      `redirect URLs  ${urls.join(", ")}`,
      "plan approval  destructive",
      "http hosts     none",
      "confirm        nothing",
    ],
  });
  expect(policies).toMatchObject([{ projectId: "prj_2", redirectUrls: urls, planApproval: "destructive" }]);
  expect([policies[0]?.quotas, policies[0]?.http]).toEqual([undefined, undefined]);
});

test("projects policy leaves what no option names", async () => {
  const { server, policies, variables } = await startAdmin();
  await using _ = server;
  const change = (...options: string[]) => runTestCommand(["projects", "policy", "billing", ...options], variables);
  const { printed } = await change("--http-host", "api.example.com");
  expect(printed.slice(0, 2)).toEqual(["redirect URLs  https://a/", "plan approval  always"]);
  await change("--plan-approval", "never");
  await change("--no-redirects");
  await change();
  expect(policies.map(({ planApproval, redirectUrls }) => [planApproval, redirectUrls])).toEqual([
    ["always", ["https://a/"]],
    ["never", ["https://a/"]],
    ["always", []],
    ["always", ["https://a/"]],
  ]);
  const alone = await change("--confirm-by", "lead");
  expect(alone).toMatchObject({ code: 2, noted: [expect.stringContaining("--confirm-by needs --confirm")] });
});

test("projects policy sends hosts where they are given, and an empty list where it is told so", async () => {
  const { server, policies, variables } = await startAdmin();
  await using _ = server;
  const policy = (...options: string[]) => runTestCommand(["projects", "policy", "billing", ...options], variables);
  const set = await policy("--http-host", "api.example.com", "--http-host", "hooks.example.com:8443");
  expect(set.printed).toContain("http hosts     api.example.com, hooks.example.com:8443");
  await policy("--no-http-hosts");
  expect(policies.map(({ http }) => http?.hosts)).toEqual([["api.example.com", "hooks.example.com:8443"], []]);
});

test("projects policy sends what a person confirms where it is given", async () => {
  const { server, policies, variables } = await startAdmin();
  await using _ = server;
  const confirm = ["--confirm", "destructive", "--confirm-by", "lead"];
  const { printed } = await runTestCommand(["projects", "policy", "billing", ...confirm], variables);
  expect(printed).toContain("confirm        destructive by lead");
  expect(policies[0]?.confirm).toMatchObject({ person: "destructive", contact: "lead" });
});

test("projects quotas sets what is named, and sends back what is not", async () => {
  const { server, policies, variables } = await startAdmin();
  await using _ = server;
  const sets = ["calls=100", "jobs=default", "storedBytes=unlimited"].flatMap((set) => ["--set", set]);
  const { code, printed } = await runTestCommand(["projects", "quotas", "billing", ...sets], variables);
  expect({ code, printed }).toEqual({ code: 0, printed: ["calls  100", "jobs  default", "storedBytes  unlimited"] });
  const quotas = { calls: 100, posts: 7, jobs: 0, storedBytes: -1 };
  expect(policies).toMatchObject([
    { projectId: "prj_2", planApproval: "always", redirectUrls: ["https://a/"], quotas },
  ]);
  const minus = await runTestCommand(["projects", "quotas", "billing", "--set", "calls=-1"], variables);
  expect(minus).toMatchObject({ code: 0, printed: ["calls  unlimited"] });
  expect(policies[1]).toMatchObject({ quotas: { calls: -1 } });
});

test.each([
  ["calls", "such as calls=100"],
  ["calls=-5", "such as calls=100"],
  ["calls=constructor", "such as calls=100"],
  ["nope=1", "such as calls=100"],
  ["calls=1.5", "and a whole number, `default` or `unlimited`, such as calls=100"],
  ["calls=0.5", "a whole number"],
  ["calls=0", "use `default`"],
  ["calls=00", "use `default`"],
  ["storedBytes=9007199254740993", "at most 9007199254740991"],
])("a quota of %s is refused as it was given, before anything is sent", async (set, told) => {
  const { server, policies, variables } = await startAdmin();
  await using _ = server;
  const { code, noted } = await runTestCommand(["projects", "quotas", "billing", "--set", set], variables);
  expect(code).toBe(2);
  expect(noted.join(" ")).toContain(`'${set}'`);
  expect(noted.join(" ")).toContain(told);
  expect(policies).toEqual([]);
});

test("projects usage shows each quota, and what the node has taken", async () => {
  const { server, variables } = await startAdmin();
  await using _ = server;
  const { printed, noted } = await runTestCommand(["projects", "usage", "billing"], variables);
  expect(printed).toEqual([
    "QUOTA        USED        MOST                 COUNTED BY  REFUSED",
    "calls        12          100                  this node   3",
    "storedBytes  5000000000  unlimited (default)  all nodes   0",
  ]);
  expect(noted).toEqual(["node_of_prj_2 has received 400 calls and 0 posts since it started"]);
  const one = await runTestCommand(["projects", "usage", "prj_1"], variables);
  expect(one.noted).toEqual(["node_of_prj_1 has received 1 call and 1 post since it started"]);
});

test("a call that a refusal names in full is one command in the text that is shown", async () => {
  await using server = await serveRoutes((router) =>
    router.service(AdminService, {
      listProjects: () => {
        throw new Fault("permission_denied", text`${call("svc.v1.CatalogService/PublishToolkit")} needs it`, [
          { reason: "X" },
        ]);
      },
    }),
  );
  const variables = { SVC_URL: server.url, SVC_ADMIN_TOKEN: adminToken };
  const { noted } = await runTestCommand(["projects", "list"], variables);
  expect(noted).toEqual(["svc: `svc toolkits publish` needs it (X)."]);
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

test("keys create binds a key, and takes no empty text for everything", async () => {
  const { server, created, variables } = await startAdmin();
  await using _ = server;
  const bound = ["--entity", "ada", "--access", "read, write", "--toolkits", "calendar"];
  await runTestCommand(["keys", "create", ...bound], variables);
  expect(created).toMatchObject([{ entityId: "ada", accessClasses: ["read", "write"], toolkitSlugs: ["calendar"] }]);
  for (const option of ["--entity", "--access", "--toolkits"]) {
    expect((await runTestCommand(["keys", "create", option, ""], variables)).code).toBe(2);
  }
});

test("a project that no name fits is refused by name", async () => {
  const { server, variables } = await startAdmin();
  await using _ = server;
  const { code, noted } = await runTestCommand(["keys", "create", "--project", "nope"], variables);
  expect({ code, noted }).toEqual({
    code: 1,
    noted: ['svc: there is no project "nope"; `svc projects list` lists the projects'],
  });
});

test("keys list shows state and use, and keys revoke ends one", async () => {
  const { server, variables } = await startAdmin();
  await using _ = server;
  const { printed } = await runTestCommand(["keys", "list"], variables);
  expect(printed).toEqual([
    "ID     ROLE      HINT    STATE    LAST USED                 BOUND TO          CONFIRMED       MADE BY  NAME",
    "key_2  approver  svc_ab  valid    2026-01-02T00:00:00.000Z                                             deploy",
    "key_1  member            revoked  -                         ada; *; calendar  writes by lead  key_2    old",
  ]);
  const revoked = await runTestCommand(["keys", "revoke", "key_2"], variables);
  expect(revoked.printed).toEqual(["key_2 was revoked at 2026-01-02T00:00:00.000Z"]);
});

test("a wrong administrator's token is told as that, where it came from and where it was refused", async () => {
  const { server, variables } = await startAdmin();
  await using _ = server;
  const argv = ["projects", "create", "billing", "--admin-token", "another"];
  expect(await runTestCommand(argv, variables)).toEqual({
    code: 1,
    printed: [],
    noted: [
      `svc: the administrator's token differs from SVC_ADMIN_TOKEN of the service (API_KEY_INVALID). ${server.url} answered; the token comes from --admin-token.`,
    ],
  });
});
