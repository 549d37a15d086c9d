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
  /** The sample would also go to other receivers. `subscriptions`, `schedules`: how many, without the sandbox inbox. */
  SANDBOX_SAMPLE_SHARED: {
    code: "failed_precondition",
    says: (triggerSlug: string, { subscriptions, schedules }: { subscriptions: number; schedules: number }) =>
      `the sample of ${formatValue(triggerSlug)} would also go to ${receiversText({ "other subscription": subscriptions, schedule: schedules })}`,
    help: text`Set ${field("toAllReceivers")} if they may receive it. ${call("ListSubscriptions")} shows their endpoints.`,
  },
  /** svc gave the consent of a sandbox app itself, but the account did not become active. */
  SANDBOX_CONSENT_FAILED: {
    code: "failed_precondition",
    says: (toolkitSlug: string, why: string) =>
      `the consent of ${formatValue(toolkitSlug)} in the sandbox failed: ${why}`,
    help: text`Send the call again. ${call("InitiateConnection")} connects the account in a browser.`,
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

/** Returns how many receivers of each kind there are, such as `1 other subscription and 2 schedules`. Kinds without any are left out. */
function receiversText(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.map(([noun, count]) => `${count} ${noun}${count === 1 ? "" : "s"}`).join(" and ");
}
