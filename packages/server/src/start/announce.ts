import { type NodeId, systemClock } from "@svc/core";
import type { Config } from "../config/settings.ts";
import type { ListenerUrls } from "../listen/listeners.ts";
import type { Logger } from "../logger.ts";
import type { Server } from "../server.ts";
import { version } from "../version.ts";
import { noteFirstKeyShown } from "./first-key.ts";
import { consoleText, firstKeyText, startText } from "./start-text.ts";

// Delay before the key is shown, in milliseconds. The log is written asynchronously, and the key should appear below the first log lines.
const logWriteMs = 50;

/**
 * Result of a start of svc: its addresses, its console and the first key. A single process has a `nodeId`; otherwise `processes` is their
 * number.
 */
export type StartResult = ListenerUrls &
  Pick<Server, "firstKey" | "consoleUrl" | "createConsoleLink"> &
  ({ readonly nodeId: NodeId } | { readonly processes: number });

/**
 * Shows the address of the server, a new first key, and a link to the console. Without a terminal, secrets are left out, because other
 * people read the log.
 */
export async function announce(
  { firstKey, consoleUrl, createConsoleLink, ...started }: StartResult,
  config: Config,
  logger: Logger,
): Promise<void> {
  const { url } = started;
  const isTerminal = process.stderr.isTTY;
  const link = isTerminal
    ? await createConsoleLink().catch((err: unknown) => logger.warn({ err }, "no link to the console could be made"))
    : undefined;
  const shown = link === undefined && consoleUrl !== undefined ? { console: consoleUrl } : {};
  logger.info({ ...started, role: config.role, version, ...shown }, startText(config, url, version));
  if (isTerminal && (firstKey !== undefined || link !== undefined)) {
    await systemClock.wait(logWriteMs);
    if (firstKey !== undefined) process.stderr.write(firstKeyText(url, firstKey));
    if (link !== undefined) process.stderr.write(consoleText(link));
  }
  if (firstKey === undefined) return;
  if (!isTerminal)
    logger.info({ file: firstKey.file }, 'project "default" has a key with the role approver, kept in this file');
  await noteFirstKeyShown(firstKey).catch((err: unknown) =>
    logger.warn({ err }, "svc could not record that it showed the first key: the next start shows the key again"),
  );
}
