import { AdminService, ProjectSchema } from "@svc/gen/admin";
import { InvalidArgumentError } from "commander";
import type { AdminOptions } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import { type ConfirmOptions, collectText, confirmOf, type JsonOption } from "../../command/options.ts";
import { confirmText } from "../../text/bound.ts";
import { messageText } from "../../text/message.ts";
import { findProjectId } from "./find-project.ts";

type PolicyOptions = AdminOptions &
  ConfirmOptions &
  JsonOption & {
    redirectUrl: readonly string[];
    planApproval: string;
    httpHost: readonly string[];
    httpHosts: boolean;
  };

const hostsHelp = `
What a person confirms stays as it is without --confirm, which goes with --confirm-by unless it is never.
Hosts are given all together; with neither --http-host nor --no-http-hosts they stay as they are. A host stands for itself alone.
The quotas of the project stay as they are: \`svc projects quotas\` sets them.`;

/** Adds `svc projects policy`. */
export const addProjectPolicy = command(
  AdminService.method.setProjectPolicy,
  {
    says: "set redirect URLs and plan approval of a project, which return to their defaults unless given, where its http steps may go, and what a person confirms",
    takes: { "<project>": "id or name of the project" },
    options: [
      [
        "--redirect-url <url>",
        "where browsers may be sent after consent, again for a further one",
        { parse: collectUrl, default: [] },
      ],
      [
        "--plan-approval <least>",
        "the least approval that the plans of its jobs need",
        { choices: ["never", "destructive", "always"], default: "never" },
      ],
      [
        "--http-host <host>",
        "where http steps may send requests, again for a further one",
        { parse: collectText, default: [] },
      ],
      ["--no-http-hosts", "http steps may send requests nowhere"],
    ],
    hasConfirm: true,
    json: "the project with its policy as JSON",
    more: hostsHelp,
    examples: [
      "svc projects policy default --redirect-url https://app.example.com/connected",
      "svc projects policy billing --plan-approval destructive",
      "svc projects policy billing --http-host api.example.com --http-host hooks.example.com:8443",
      "svc projects policy default --confirm destructive --confirm-by lead",
    ],
  },
  async ({ values: options, context, admin, asJson }: Run<PolicyOptions & { readonly project: string }>) => {
    const { project: name } = options;
    const client = admin();
    const { redirectUrl: redirectUrls, planApproval, httpHost: hosts, httpHosts } = options;
    const projectId = await findProjectId(client, name);
    const http = hosts.length > 0 || !httpHosts ? { http: { hosts: [...hosts] } } : {};
    const request = { projectId, planApproval, redirectUrls: [...redirectUrls], ...http, ...confirmOf(options) };
    const { project } = await client.admin.setProjectPolicy(request);
    if (asJson && project !== undefined) return context.print(messageText(ProjectSchema, project));
    context.print(`redirect URLs  ${redirectUrls.join(", ") || "loopback only"}`);
    context.print(`plan approval  ${planApproval}`);
    context.print(`http hosts     ${project?.policy?.http?.hosts.join(", ") || "none"}`);
    context.print(`confirm        ${confirmText(project?.policy?.confirm) || "nothing"}`);
  },
);

/** A text that is no URL is told by itself; the service names the others by their place. */
function collectUrl(text: string, before: readonly string[]): string[] {
  if (URL.canParse(text)) return collectText(text, before);
  throw new InvalidArgumentError("expected an absolute URL, such as https://app.example.com/connected");
}
