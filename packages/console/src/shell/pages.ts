import type { LinkProps } from "@tanstack/react-router";
import type { IconName } from "../ui/icon.tsx";

/** A page of a project, as shown in the navigation and in the command palette (the console's search for pages). */
export type NavPage = {
  to: NonNullable<LinkProps["to"]>;
  title: string;
  icon: IconName;
  /** The letter that opens the page after `g` (a keyboard shortcut). */
  letter: string;
  /** Search words, in addition to the title, by which the user finds the page in the command palette (the console's search for pages). */
  findAs?: string;
  /**
   * Position of the page in the bar at the bottom of a phone, counted from 1. The bar has space for three pages and the button for more.
   */
  onPhone?: number;
};

/** The pages of a project, in groups. The first group is at the top and has no title. A new page gets a line here. */
const navGroups: readonly { title: string; pages: readonly NavPage[] }[] = [
  {
    title: "",
    pages: [{ to: "/p/$projectId/home", title: "Home", icon: "home", letter: "o", findAs: "overview first steps" }],
  },
  {
    title: "Webhooks",
    pages: [
      { to: "/p/$projectId/events", title: "Events", icon: "event", letter: "e", onPhone: 3 },
      {
        to: "/p/$projectId/event-types",
        title: "Event types",
        icon: "tag",
        letter: "y",
        findAs: "publish own events schema openapi asyncapi",
      },
      { to: "/p/$projectId/deliveries", title: "Deliveries", icon: "delivery", letter: "d" },
      { to: "/p/$projectId/subscriptions", title: "Subscriptions", icon: "subscription", letter: "s" },
      { to: "/p/$projectId/replays", title: "Resends", icon: "replay", letter: "r", findAs: "replays" },
      {
        to: "/p/$projectId/ingest",
        title: "Incoming webhooks",
        icon: "ingest",
        letter: "i",
        findAs: "ingest endpoints secrets",
      },
      { to: "/p/$projectId/quarantine", title: "Quarantine", icon: "ban", letter: "q", findAs: "held posts release" },
    ],
  },
  {
    title: "Automation",
    pages: [
      {
        to: "/p/$projectId/asks",
        title: "Approvals",
        icon: "approval",
        letter: "a",
        findAs: "asks questions",
        onPhone: 1,
      },
      { to: "/p/$projectId/jobs", title: "Jobs", icon: "job", letter: "j", onPhone: 2 },
      { to: "/p/$projectId/schedules", title: "Schedules", icon: "schedule", letter: "h" },
      { to: "/p/$projectId/skills", title: "Saved tools", icon: "skill", letter: "k", findAs: "skills" },
      { to: "/p/$projectId/contacts", title: "People", icon: "contact", letter: "c", findAs: "contacts" },
    ],
  },
  {
    title: "Apps",
    pages: [
      { to: "/p/$projectId/tools", title: "Tools", icon: "tool", letter: "t" },
      {
        to: "/p/$projectId/toolkits",
        title: "Apps",
        icon: "project",
        letter: "p",
        findAs: "toolkits add import openapi mcp server changes",
      },
      { to: "/p/$projectId/accounts", title: "Accounts", icon: "plug", letter: "n" },
      { to: "/p/$projectId/calls", title: "Calls", icon: "calls", letter: "l" },
    ],
  },
  {
    title: "Project",
    pages: [{ to: "/p/$projectId/settings", title: "Settings", icon: "gear", letter: "," }],
  },
];

/** The pages of the administrator. */
const adminGroups: typeof navGroups = [
  {
    title: "Administration",
    pages: [
      {
        to: "/admin/projects",
        title: "Projects",
        icon: "project",
        letter: "p",
        findAs: "keys quotas usage policy",
        onPhone: 1,
      },
      {
        to: "/admin/quarantine",
        title: "Quarantine",
        icon: "ban",
        letter: "q",
        findAs: "held posts release",
        onPhone: 2,
      },
      { to: "/admin/audit", title: "Audit log", icon: "clock", letter: "l", onPhone: 3 },
    ],
  },
];

/** Returns the navigation groups of a project, or of the administrator (`"admin"`). */
export function groupsOf(projectId: string): typeof navGroups {
  return projectId === "admin" ? adminGroups : navGroups;
}

/** Returns every page in the navigation of a project (or of `"admin"`), in the order of the navigation. */
export function pagesOf(projectId: string): readonly NavPage[] {
  return groupsOf(projectId).flatMap(({ pages }) => pages);
}

/** The page that shows an object, for each prefix of an id: `evt_` leads to the page of an event. The palette uses it for a typed id. */
export const idPages: readonly { prefix: string; words: string; to: NavPage["to"]; param: string }[] = [
  { prefix: "evt_", words: "event", to: "/p/$projectId/events/$eventId", param: "eventId" },
  { prefix: "dlv_", words: "delivery", to: "/p/$projectId/deliveries/$deliveryId", param: "deliveryId" },
  { prefix: "qrn_", words: "quarantined post", to: "/p/$projectId/quarantine/$postId", param: "postId" },
  { prefix: "sub_", words: "subscription", to: "/p/$projectId/subscriptions/$subscriptionId", param: "subscriptionId" },
  { prefix: "job_", words: "job", to: "/p/$projectId/jobs/$jobId", param: "jobId" },
  { prefix: "ask_", words: "question", to: "/p/$projectId/asks/$askId", param: "askId" },
  { prefix: "stp_", words: "schedule", to: "/p/$projectId/schedules/$scheduleId", param: "scheduleId" },
  { prefix: "srn_", words: "run", to: "/p/$projectId/runs/$runId", param: "runId" },
  { prefix: "acc_", words: "account", to: "/p/$projectId/accounts/$accountId", param: "accountId" },
  { prefix: "call_", words: "call", to: "/p/$projectId/calls/$callId", param: "callId" },
];
