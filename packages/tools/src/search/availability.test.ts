import type { Catalog } from "@svc/catalog";
import { createId, type ProjectId, type ProjectPrincipal, systemClock } from "@svc/core";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { catalogOf } from "@svc/testing/catalog";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject } from "../call/test-node.ts";
import { deskToolkit } from "../call/test-toolkits.ts";
import { createAvailabilityFinder } from "./availability.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const unbound = {
  ...deskToolkit,
  toolkit: { ...deskToolkit.toolkit, baseUrl: "{{deployment.provider_base_url}}" },
};

async function availabilityOf(
  catalog: Catalog,
  principal: Partial<ProjectPrincipal>,
  isSandbox = false,
): Promise<string> {
  const find = createAvailabilityFinder({ db, clock: systemClock, sandboxMode: isSandbox ? "on" : "off" });
  const availability = await find(catalog, principal as ProjectPrincipal);
  const [tool] = [...catalog.tools.values()].filter(({ kind }) => kind === "action");
  if (tool?.kind !== "action") throw new Error("the desk has no action");
  return availability(tool);
}

async function connect(projectId: ProjectId, state: "active" | "expired") {
  await connectedAccountsForProject(db, projectId).create({
    id: createId("acc", 1),
    toolkitSlug: "desk",
    isPrivate: false,
    isSandbox: false,
    entityId: "ann",
    scheme: "api_key",
    state,
    variables: {},
    credential: Buffer.from("sealed"),
    originDigest: null,
    grantedScopes: [],
    references: [],
    lastError: "",
    createdAt: 1,
    updatedAt: 1,
    expiresAt: null,
    refreshAt: null,
    refreshLeaseUntil: null,
  });
}

test("an app without a configured address is unbound, but not in the sandbox", async () => {
  const projectId = await addProject(db);
  const catalog = catalogOf({ toolkits: [unbound] });
  expect(await availabilityOf(catalog, { projectId })).toBe("unbound");
  expect(await availabilityOf(catalog, { projectId }, true)).toBe("connected");
});

test("a caller scoped to an entity can use apps with an active account of that entity, separate by project and sandbox", async () => {
  const catalog = catalogOf({ toolkits: [deskToolkit] });
  const [projectId, other] = [await addProject(db), await addProject(db)];
  const binding = { entityId: "ann", accessClasses: [], toolkitSlugs: [] };
  expect(await availabilityOf(catalog, { projectId })).toBe("connected");
  expect(await availabilityOf(catalog, { projectId, binding })).toBe("unconnected");
  await connect(projectId, "expired");
  expect(await availabilityOf(catalog, { projectId, binding })).toBe("unconnected");
  await connect(projectId, "active");
  expect(await availabilityOf(catalog, { projectId, binding })).toBe("connected");
  expect(await availabilityOf(catalog, { projectId, binding: { ...binding, entityId: "bob" } })).toBe("unconnected");
  expect(await availabilityOf(catalog, { projectId: other, binding })).toBe("unconnected");
  expect(await availabilityOf(catalog, { projectId, binding }, true)).toBe("unconnected");
});
