import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ProjectPolicy, ProjectQuotas, ProjectQuotasSchema, SetProjectPolicyRequestSchema } from "@svc/gen/admin";

/**
 * The choices of the project's setting for plan approval. It decides which programs a person must approve before they run, in addition to
 * those that ask for it themselves.
 */
export const planApprovals: readonly { value: string; words: string; says: string }[] = [
  { value: "never", words: "If the program asks for it", says: "The program decides." },
  { value: "destructive", words: "If they delete data", says: "Every program with a call that deletes data." },
  { value: "always", words: "Always", says: "Every program." },
];

/**
 * Returns the name of a choice of the plan-approval setting: when a person must approve a program. An empty value means the default,
 * `never`.
 */
export function planApprovalWords(value: string): string {
  const known = planApprovals.find((one) => one.value === (value === "" ? "never" : value));
  return known === undefined ? value : known.words.toLowerCase();
}

/** Name of a quota in ProjectQuotas. */
export type PolicyQuota = Exclude<keyof ProjectQuotas, "$typeName" | "$unknown">;

/** Names of the quotas that an administrator can set for a project, in display order. Each name says what the quota counts. */
export const quotaWords: Readonly<Record<PolicyQuota, string>> = {
  calls: "Calls per second and node",
  concurrentCalls: "Concurrent calls per node",
  posts: "Incoming posts per second and node",
  subscriptions: "Subscriptions for all users",
  entitySubscriptions: "Subscriptions for one user",
  pendingDeliveries: "Waiting deliveries",
  jobs: "Unfinished jobs",
  openStreams: "Open streams per node",
  privateToolkits: "Your own apps",
  privateToolkitBytes: "Size of own apps",
  storedBytes: "Stored bytes",
};

/** The names of quotas, in display order. */
export const quotaNames: readonly PolicyQuota[] = Object.keys(quotaWords) as PolicyQuota[];

/** The policy as the user types it: a list is a text with one entry per line; a quota is a text, empty for the default. */
export type TypedPolicy = {
  planApproval: string;
  confirmPerson: string;
  confirmContact: string;
  /** True if an MCP client may ask its own user to confirm a call. The form keeps this value of the policy, but has no field for it. */
  elicitation: boolean;
  redirectUrls: string;
  hosts: string;
  quotas: Readonly<Record<PolicyQuota, string>>;
};

/** Returns the initial values of the form for a project's policy (quotas, approvals and confirmations). */
export function typedPolicy(policy: ProjectPolicy | undefined): TypedPolicy {
  const text = (name: PolicyQuota) => {
    const value = policy?.quotas?.[name] ?? 0;
    return value === 0 ? "" : String(value);
  };
  return {
    planApproval: policy?.planApproval || "never",
    confirmPerson: policy?.confirm?.person || "never",
    confirmContact: policy?.confirm?.contact ?? "",
    elicitation: policy?.confirm?.elicitation ?? false,
    redirectUrls: (policy?.redirectUrls ?? []).join("\n"),
    hosts: (policy?.http?.hosts ?? []).join("\n"),
    quotas: Object.fromEntries(quotaNames.map((name) => [name, text(name)])) as Record<PolicyQuota, string>,
  };
}

/** Returns the request that sets a project's policy as the user typed it. Throws an Error if a quota is not a whole number. */
export function policyRequest(
  projectId: string,
  { planApproval, confirmPerson, confirmContact, elicitation, redirectUrls, hosts, quotas }: TypedPolicy,
): MessageInitShape<typeof SetProjectPolicyRequestSchema> {
  const wanted: MessageInitShape<typeof ProjectQuotasSchema> = Object.fromEntries(
    quotaNames.map((name) => [name, quotaOf(name, quotas[name])]),
  );
  return {
    ...{ projectId, planApproval, redirectUrls: linesOf(redirectUrls) },
    // If no calls need confirmation, the request contains no contact, because svc asks none.
    confirm:
      confirmPerson === "never"
        ? { person: confirmPerson, contact: "" }
        : { person: confirmPerson, contact: confirmContact.trim(), ...(elicitation && { elicitation }) },
    ...{ http: { hosts: linesOf(hosts) }, quotas: wanted },
  };
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function quotaOf(name: PolicyQuota, text: string): number {
  if (text.trim() === "") return 0;
  const number = Number(text);
  const most = name === "storedBytes" ? Number.MAX_SAFE_INTEGER : 2 ** 31 - 1;
  if (Number.isSafeInteger(number) && number >= -1 && number <= most) return number;
  throw new Error(
    `${quotaWords[name]}: ${text} is not a whole number from -1 to ${most}. Leave it empty for the default.`,
  );
}
