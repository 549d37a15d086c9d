import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { parseDuration, systemClock } from "@svc/core";
import { type ApiKey, Role } from "@svc/sdk";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "./command-context.ts";
import { type AdminOptions, addAdminOptions, connectAdmin } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { tableLines, timeText } from "./output.ts";
import { collectPages } from "./pages.ts";
import { findProjectId } from "./projects.ts";

type CreateOptions = AdminOptions & { project: string; role: "member" | "approver"; name: string; expiresIn?: number };

const projectOption = ["--project <id or name>", "project that the key belongs to", "default"] as const;

/** Adds `svc keys create|list|revoke`. */
export function addKeysCommand(program: Command, context: CommandContext): void {
  const keys = program.command("keys").description("issue, list and revoke API keys, as the administrator");
  addExamples(keys, [
    "svc keys create --project billing --name deploy",
    "svc keys revoke key_01h455vb4pex5vsknk084sn02q",
  ]);
  addCreate(keys, context);
  addList(keys, context);
  addRevoke(keys, context);
}

function addCreate(keys: Command, context: CommandContext): void {
  const create = keys
    .command("create")
    .description("issue an API key and print it; it is shown here only")
    .option(...projectOption)
    .addOption(new Option("--role <role>", "what the key may do").choices(["member", "approver"]).default("member"))
    .option("--name <text>", "what the key is for", "svc keys create")
    .option("--expires-in <duration>", "how long it is valid, such as 90d or PT12H (default: for ever)", parseValidity)
    .action((options: CreateOptions) => createKey(options, context));
  addExamples(addAdminOptions(create), [
    "svc keys create",
    "svc keys create --project billing --role approver --name deploy --expires-in 90d",
    "export SVC_API_KEY=$(svc keys create --name my-shell)",
  ]);
}

/** The key alone goes to standard output, so that a shell can keep it in a variable. */
async function createKey(options: CreateOptions, context: CommandContext): Promise<void> {
  const client = connectAdmin(options, context);
  const { apiKey, key } = await client.admin.createApiKey({
    projectId: await findProjectId(client, options.project),
    role: options.role === "approver" ? Role.APPROVER : Role.MEMBER,
    name: options.name,
    ...(options.expiresIn === undefined ? {} : { expiresAt: timestampFromMs(systemClock.now() + options.expiresIn) }),
  });
  context.print(key);
  context.note(`${apiKey?.id} (${options.role}) of project ${apiKey?.projectId}. Keep the key: it is not shown again.`);
}

function addList(keys: Command, context: CommandContext): void {
  const list = keys
    .command("list")
    .description("list the keys of a project without their text, newest first")
    .option(...projectOption)
    .action(async (options: AdminOptions & { project: string }) => {
      const client = connectAdmin(options, context);
      const projectId = await findProjectId(client, options.project);
      const found = await collectPages(async (pageToken) => {
        const { apiKeys, nextPageToken } = await client.admin.listApiKeys({ projectId, pageSize: 500, pageToken });
        return { items: apiKeys, nextPageToken };
      });
      const header = ["ID", "ROLE", "HINT", "STATE", "LAST USED", "NAME"];
      for (const line of tableLines(header, found.map(keyRow))) context.print(line);
    });
  addExamples(addAdminOptions(list), ["svc keys list", "svc keys list --project billing"]);
}

function keyRow({ id, role, hint, revokedAt, expiresAt, lastUsedAt, name }: ApiKey): string[] {
  const state =
    revokedAt !== undefined ? "revoked" : expiresAt !== undefined ? `until ${timeText(expiresAt)}` : "valid";
  return [id, role === Role.APPROVER ? "approver" : "member", hint, state, timeText(lastUsedAt), name];
}

function addRevoke(keys: Command, context: CommandContext): void {
  const revoke = keys
    .command("revoke")
    .description("end a key for good")
    .argument("<id>", "id of the key, key_…")
    .action(async (id: string, options: AdminOptions) => {
      const { apiKey } = await connectAdmin(options, context).admin.revokeApiKey({ id });
      context.print(`${apiKey?.id} is revoked since ${timeText(apiKey?.revokedAt)}`);
    });
  addExamples(addAdminOptions(revoke), ["svc keys revoke key_01h455vb4pex5vsknk084sn02q"]);
}

function parseValidity(text: string): number {
  try {
    return parseDuration(text);
  } catch (err) {
    throw new InvalidArgumentError(err instanceof Error ? err.message : String(err));
  }
}
