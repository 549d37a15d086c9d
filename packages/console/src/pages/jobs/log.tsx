import type { JobEvent } from "@svc/gen/jobs";
import { Choice } from "../../ui/fields/choice.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { VirtualList } from "../../ui/rows/virtual-list.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { prettyJson } from "../../words/pretty-json.ts";
import type { Word } from "../../words/word.ts";
import type { JobLogState } from "./job-log.ts";
import styles from "./log.module.css";

/** Fields of a log entry that its line shows, in this order. If the user opens the line, it shows the other fields too. */
const told = [
  "status",
  "reason",
  "state",
  "outcome",
  "continuation",
  "principalId",
  "toolSlug",
  "code",
  "count",
  "rows",
  "ok",
  "failed",
  "message",
  "error",
];

/** Returns an entry of a log as one line: its step, and its most important fields. */
function entryWords({ stepId, payloadJson }: Pick<JobEvent, "stepId" | "payloadJson">): string {
  return [stepId, ...particulars(payloadJson)].filter((part) => part !== "").join(" · ");
}

function particulars(text: string): string[] {
  try {
    const payload: unknown = JSON.parse(text || "{}");
    if (typeof payload !== "object" || payload === null) return [];
    return told.flatMap((name) => {
      const value = (payload as Record<string, unknown>)[name];
      if (typeof value === "string" && value !== "") return [value.replace(/^JOB_STATUS_[A-Z_]+$/, statusWord)];
      return typeof value === "number" ? [`${name} ${value}`] : [];
    });
  } catch {
    // The service shortened the text, so that it cannot be parsed. Opening the line shows the whole text.
    return [];
  }
}

function statusWord(status: string): string {
  return status.slice("JOB_STATUS_".length).toLowerCase();
}

const states: Record<JobLogState["state"], Word> = {
  opening: { word: "opening", tone: "plain", icon: "clock", says: "Opening the log…" },
  live: { word: "live", tone: "ok", icon: "live", says: "New entries appear live." },
  reconnecting: {
    word: "reconnecting",
    tone: "warn",
    icon: "replay",
    says: "Connection lost. Reconnecting…",
  },
  ended: { word: "ended", tone: "plain", icon: "check", says: "The job has ended. This is the complete log." },
};

/**
 * Draws the log of a job: of all steps or of one step, oldest or newest first. Each entry can be opened. The browser loads the code of this
 * component separately, when a job's page first shows the log.
 */
export default function Log({
  log,
  step,
  stepIds,
  newestFirst,
  onChange,
}: {
  log: JobLogState;
  step: string | undefined;
  stepIds: readonly string[];
  newestFirst: boolean;
  onChange: (change: { step?: string | undefined; order?: "newest" | undefined }) => void;
}) {
  const filtered = step === undefined ? log.entries : log.entries.filter(({ stepId }) => stepId === step);
  const rows = newestFirst ? [...filtered].reverse() : filtered;
  return (
    <Stack>
      <Line>
        <State word={states[log.state]} />
        <Choice
          label="Of"
          value={step ?? ""}
          options={[{ value: "", words: "all steps" }, ...stepIds.map((id) => ({ value: id, words: id }))]}
          onChange={(id) => onChange({ step: id || undefined })}
        />
        <Choice
          label="Order"
          value={newestFirst ? "newest" : ""}
          options={[
            { value: "", words: "newest last" },
            { value: "newest", words: "newest first" },
          ]}
          onChange={(order) => onChange({ order: order === "newest" ? "newest" : undefined })}
        />
      </Line>
      {log.entries.length === 0 && <FaultNotice error={log.error} />}
      {log.entries.length === 0 && log.error === undefined && log.state !== "ended" && <Skeleton rows={4} />}
      {log.entries.length > 0 && rows.length === 0 && <p>No log entries of {step} yet.</p>}
      {rows.length > 0 && (
        <VirtualList label="Entries of the log" rows={rows} rowId={({ seq }) => seq} follows={!newestFirst}>
          {(entry) => <Entry entry={entry} />}
        </VirtualList>
      )}
    </Stack>
  );
}

function Entry({ entry }: { entry: JobEvent }) {
  const by = entry.principalChain.join(", for ");
  return (
    <Disclosure
      flat
      summary={
        <span className={styles["entry"]}>
          <span className={styles["seq"]}>{entry.seq}</span>
          <span className={styles["type"]}>{entry.type}</span>
          <span className={styles["says"]}>{entryWords(entry)}</span>
          <span className={styles["at"]}>
            <Time at={entry.at} />
          </span>
        </span>
      }
    >
      <p>By {by || "the service"}.</p>
      <CodeBlock text={prettyJson(entry.payloadJson || "{}")} what="entry" />
    </Disclosure>
  );
}
