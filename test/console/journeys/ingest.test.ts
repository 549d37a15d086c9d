import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { writeToolkits } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { afterAll, beforeAll, expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";

/** Toolkits that receive webhooks, one for each signature scheme, and for hex as well as base64. */
const schemes = { code_host: "hmac_sha256", payments: "hmac_sha256", team_chat: "slack_v0", watcher: "token_query" };
/** Two secrets, as during a rotation: any of them verifies, and the first one signs. */
const secrets = Object.fromEntries(
  Object.keys(schemes).map((slug) => [`SVC_WEBHOOK_SECRET_${slug.toUpperCase()}`, `it's-"$a"-secret&of=${slug} older`]),
);

const folder = await mkdtemp(join(tmpdir(), "svc-ingest-"));
beforeAll(() => writeToolkits(folder, Object.values(sampleToolkits)));
const consoles = startConsole({ variables: { SVC_TOOLKITS: folder, ...secrets } });
afterAll(() => rm(folder, { recursive: true }));

browserTest("the command of each inbound path makes an event, pasted where its variable is set", async () => {
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/ingest` });
  for (const [slug, scheme] of Object.entries(schemes)) {
    await page.getByText(slug, { exact: true }).click();
    const item = page.getByRole("listitem").filter({ hasText: slug });
    await item.getByText(scheme, { exact: true }).waitFor();
    await item.getByText("The same post with curl").click();
    const command = (await item.locator("pre").filter({ hasText: "curl" }).textContent()) ?? "";
    const { stdout } = await promisify(execFile)("bash", ["-c", command], {
      env: { PATH: process.env["PATH"], ...secrets },
    });
    expect(JSON.parse(stdout), `${slug}: ${command}`).toEqual({ accepted: 1 });
    const { json } = await consoles.svc.call("svc.v1.TriggersService/ListEvents", { toolkitSlug: slug });
    expect(json.events).toHaveLength(1);
    await expect(promisify(execFile)("bash", ["-c", command], { env: {} })).rejects.toThrow("is not set in this shell");
  }
});
