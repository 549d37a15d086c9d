import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { generateVaultKey } from "@svc/core";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDatabase } from "@svc/testing/database";
import { adminToken, call, type ServerProcess, startServerProcess, until } from "@svc/testing/server-process";
import { startSubscriber } from "@svc/testing/subscriber";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../source.ts";
import { numbersOf, startLoad } from "./load.ts";

// The vault key is rotated while two nodes serve. `npm test` covers a rotation alone, in packages/server/src/vault/vault.test.ts.

const isWhole = process.env["SVC_CRASH_ROUNDS"] !== undefined;
const main = await bundled(join(root, "packages/cli/src/main.ts"));

type Rotation = { state: string; pass: number; resealed: number; problem: string };

test.skipIf(!isWhole)(
  "the vault key rotates while two nodes serve posts and calls and each state of it kills one; nothing is lost, and the old key is refused",
  {
    timeout: 900_000,
  },
  async () => {
    const { url, drop } = await createTestDatabase();
    onTestFinished(drop);
    const [oldKey, newKey] = [generateVaultKey(), generateVaultKey()];
    const receiver = await startSubscriber();
    onTestFinished(() => receiver.close());
    const start = async (keys: string) => {
      const node = await startServerProcess({
        ...{ SVC_DATABASE_URL: url, SVC_VAULT_KEY: keys, SVC_SANDBOX: "force" },
      });
      onTestFinished(async () => void (await node.end("SIGKILL")));
      return node;
    };
    const first = await start(oldKey);
    const subscribed = { endpointUrl: receiver.url };
    const { signingSecret } = await call<{ signingSecret: string }>(
      first,
      "TriggersService/CreateSubscription",
      subscribed,
    );
    await call(first, "ConnectionsService/InitiateConnection", {
      toolkitSlug: "sales_crm",
      entityId: "ops",
      apiKey: "any-key",
    });
    await first.end("SIGTERM");

    const keys = `${newKey} ${oldKey}`;
    const nodes: ServerProcess[] = [await start(keys), await start(keys)];
    const living = {
      get url() {
        return nodes[0]?.url ?? "";
      },
    };
    const load = startLoad(living, 6);
    onTestFinished(() => load.stop());
    let [called, isCalling] = [0, true];
    const calling = (async () => {
      while (isCalling) {
        const said = await send(living).catch(() => undefined);
        if (said === undefined) continue;
        expect(said).toBe("ok");
        called++;
      }
    })();
    const env = { ...compileCache, PATH: process.env["PATH"] ?? "", SVC_URL: living.url, SVC_ADMIN_TOKEN: adminToken };
    await promisify(execFile)(process.execPath, [main, "vault", "rotate"], { env });
    const rotation = async () =>
      (await call<{ rotation: Rotation }>(living, "AdminService/GetVaultRotation", {}, adminToken)).rotation;
    const seen: string[] = [];
    for (const isThere of [
      ({ state }: Rotation) => state !== "announced",
      ({ state, resealed }: Rotation) => state === "resealing" && resealed > 0,
      ({ pass }: Rotation) => pass > 1,
    ]) {
      await until(async () => isThere(await rotation()), 180_000, "the next place of the rotation");
      const { state, pass, resealed } = await rotation();
      seen.push(`${state}, pass ${pass}`);
      process.stderr.write(
        `killed at ${state}, pass ${pass}, ${resealed} resealed, after ${called} calls and ${load.acknowledged.size} posts\n`,
      );
      // The second node takes over, and is the first in the list from then on.
      nodes.push(await start(keys));
      await nodes.shift()?.end("SIGKILL");
    }
    await until(async () => (await rotation()).state === "done", 300_000, "the end of the rotation");
    expect(new Set(seen).size).toBeGreaterThan(1);
    isCalling = false;
    await calling;
    await load.stop();
    expect(called).toBeGreaterThan(20);
    expect((await rotation()).problem).toBe("");
    await until(() => load.acknowledged.size <= numbersOf(receiver.received).size, 120_000, "all deliveries");
    for (const { body, headers } of receiver.received)
      new Webhook(signingSecret).verify(body, headers as Record<string, string>);

    // With the old key alone, the service does not start. Together with the new key the old one opens nothing, and a return to it is
    // refused.
    await expect(start(oldKey)).rejects.toThrow("SVC_VAULT_KEY");
    for (const node of nodes) await node.end("SIGTERM");
    const [both, alone] = [await start(`${oldKey} ${newKey}`), await start(newKey)];
    for (const node of [both, alone]) expect(await send(node)).toBe("ok");
    await expect(call(both, "AdminService/RotateVault", {}, adminToken)).rejects.toThrow("VAULT_KEY_RETIRED");
  },
);

async function send(server: { url: string }): Promise<string> {
  const { outcome } = await call<{ outcome: string }>(server, "ToolsService/CallTool", {
    ...{ toolSlug: "sales_crm.list_deals", entityId: "ops", argumentsJson: "{}" },
  });
  return outcome;
}
