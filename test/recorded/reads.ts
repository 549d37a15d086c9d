import type { ServerProcess } from "@svc/testing/server-process";
import type { Read } from "./database-recording.ts";
import { callAs } from "./deployment.ts";
import { administrator } from "./service-under-test.ts";

type Answer = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Makes every call that reads, for all that the deployment holds, and keeps the answers. */
export async function readAll(service: ServerProcess, keys: Readonly<Record<string, string>>): Promise<Read[]> {
  const reads: Read[] = [];
  const read = async (method: string, request: object = {}, key = "approver"): Promise<Answer> => {
    const answer = await callAs(service, key === "admin" ? administrator : (keys[key] ?? ""), method, request);
    reads.push({ method, key, request: { ...request }, answer });
    return answer as Answer;
  };
  const eachOf = async (
    answer: Answer,
    name: string,
    look: (id: unknown, row: Answer[string][number]) => Promise<unknown>,
  ) => {
    for (const row of answer[name] ?? []) await look(row["id"], row);
  };
  const { projectId } = await read("IdentityService/GetIdentity");
  await read("IdentityService/GetIdentity", {}, "member");
  await read("CatalogService/GetToolkit", { slug: "own_shop", projectId });
  await read("CatalogService/ListTools", { toolkitSlug: "skills", projectId });
  await read("ConnectionsService/ListConnections");
  await read("ContactsService/ListContacts", {}, "member");
  await read("TriggersService/ListSubscriptions");
  await eachOf(await read("TriggersService/ListEvents"), "events", async (eventId) => {
    await read("TriggersService/GetEvent", { id: eventId });
    await eachOf(await read("TriggersService/ListDeliveries", { eventId }), "deliveries", (deliveryId) =>
      read("TriggersService/ListDeliveryAttempts", { deliveryId }),
    );
  });
  await read("JobsService/ListJobs", { pageSize: 3 }, "member");
  await read("JobsService/ListJobs", { mode: "simulate", pageSize: 2 });
  await eachOf(await read("JobsService/ListJobs", { pageSize: 100 }), "jobs", async (id) => {
    await read("JobsService/GetJob", { id });
    await read("JobsService/ListJobEvents", { jobId: id });
  });
  // The whole list of jobs is the answers of GetJob over again.
  reads.splice(
    reads.findIndex(({ request }) => request["pageSize"] === 100),
    1,
  );
  await eachOf(await read("JobsService/ListAsks"), "asks", (_id, { jobId, requestId }) =>
    read("JobsService/GetAsk", { jobId, requestId }),
  );
  await read("JobsService/ListAskEndpoints");
  await read("ToolsService/ListToolCalls", { pageSize: 20 });
  await eachOf(await read("ToolsService/ListToolCalls", { entityId: "sandbox:cut" }), "calls", (id) =>
    read("ToolsService/GetToolCall", { id }),
  );
  await eachOf(await read("AdminService/ListProjects", {}, "admin"), "projects", (projectId) =>
    read("AdminService/ListApiKeys", { projectId }, "admin"),
  );
  await eachOf(await read("AdminService/ListQuarantinedPosts", {}, "admin"), "posts", (id) =>
    read("AdminService/GetQuarantinedPost", { id }, "admin"),
  );
  return reads;
}
