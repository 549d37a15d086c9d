import { type NodeId, systemClock } from "@svc/core";
import type { Config } from "../config/config.ts";
import type { ListenerUrls } from "../http/listeners.ts";
import type { Logger } from "../logger.ts";
import { version } from "../version.ts";
import { type FirstKey, noteFirstKeyShown } from "./first-key.ts";
import { firstKeyText, startText } from "./start-text.ts";

// The log is written asynchronously, and the key is to stand below its first lines.
const logWriteMs = 50;

/** What a start came to: where is listened, by which node or by how many processes, and the key that was made. */
export type Started = ListenerUrls & { readonly firstKey: FirstKey | undefined } & (
    | { readonly nodeId: NodeId }
    | { readonly processes: number }
  );

/** Says where the server listens, then the first key, until a start has come this far: on a terminal the key itself, else its file. */
export async function announce({ firstKey, ...started }: Started, config: Config, logger: Logger): Promise<void> {
  const { url } = started;
  logger.info({ ...started, role: config.role, version }, startText(config, url, version));
  if (firstKey === undefined) return;
  if (process.stderr.isTTY) {
    await systemClock.wait(logWriteMs);
    process.stderr.write(firstKeyText(url, firstKey));
  } else {
    logger.info({ file: firstKey.file }, 'project "default" has a key with the role approver, kept in this file');
  }
  await noteFirstKeyShown(firstKey).catch((err: unknown) =>
    logger.warn({ err }, "that the first key was shown could not be noted: the next start shows it again"),
  );
}
