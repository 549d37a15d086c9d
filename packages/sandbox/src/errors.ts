import { call, defineFaults, field, formatValue, text } from "@svc/core";

/** Errors that the methods of SandboxService return. */
export const sandboxFaults = defineFaults({
  SANDBOX_OFF: {
    code: "failed_precondition",
    says: "the sandbox is off on this deployment, so svc plays no app",
    help: "Start the service with SVC_SANDBOX=on.",
  },
  /** The sandbox does not play the app, because the deployment or the project named the real app. */
  SANDBOX_APP_LIVE: {
    code: "failed_precondition",
    says: (toolkitSlug: string) => `the app ${formatValue(toolkitSlug)} is real on this deployment`,
    help: text`Name an app that the sandbox plays. ${call("InitiateConnection")} connects an account of a real app.`,
  },
  /** No sample webhook post can be made. `why`: the reason, as a sentence without its full stop. */
  SANDBOX_SAMPLE_MISSING: {
    code: "failed_precondition",
    says: (why: string) => why,
    help: text`Name a trigger of an app that posts webhooks. ${call("ListIngestEndpoints")} lists these apps.`,
  },
  INBOX_NOT_FOUND: {
    code: "not_found",
    field: "inboxId",
    says: (id: string) => `the project has no sandbox inbox ${formatValue(id)}`,
    help: text`${call("CreateInbox")} makes one.`,
  },
  TOOLKIT_SLUGS_INVALID: {
    code: "invalid_argument",
    field: "toolkitSlugs",
    says: (count: number, _most: number) => text`${field("toolkitSlugs")} has ${count} entries`,
    help: (_count: number, most: number) => `Send 1 to ${most} slugs of apps.`,
  },
});
