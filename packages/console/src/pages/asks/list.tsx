import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Ask, AskState, JobsService } from "@svc/gen/jobs";
import { useNow } from "../../clock.ts";
import type { ListPart } from "../../frame/list-filters.tsx";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { ToggleButton } from "../../ui/buttons/toggle-button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { askStateWord, decisionWords, splitQuestion } from "../../words/asks.ts";
import { askPlace, continuationWords } from "../../words/continuations.ts";
import { visible } from "../../words/text.ts";
import { durationWords } from "../../words/time.ts";
import { asksSearch } from "./filters.ts";
import { lastAnsweredAs, useContacts } from "./use-ask.ts";

const asks = listPage({
  title: "Approvals",
  method: JobsService.method.listAsks,
  rows: "asks",
  params: asksSearch,
  everyMs: 3_000,
  keep: isListed,
  isClearable: false,
  tabs: [
    { words: "To answer", sets: { show: undefined } },
    { words: "Answered", sets: { show: "settled" } },
  ],
  filters: {
    show: ({ search, change, projectId }) => {
      const me = lastAnsweredAs(projectId);
      if (me === undefined) return null;
      return (
        <ToggleButton on={search.of === me} onPress={() => change({ of: search.of === me ? undefined : me })}>
          Mine, as {me}
        </ToggleButton>
      );
    },
    of: { choice: "Asked of", options: useHolders },
  },
  columns: [
    {
      id: "question",
      title: "Question",
      width: "minmax(160px, 3fr)",
      linked: ({ question }) => visible(splitQuestion(question)[0]),
    },
    { id: "does", title: "What it will do", width: "minmax(144px, 2fr)", cell: (ask) => <Does ask={ask} /> },
    { id: "state", title: "State", width: "112px", cell: ({ state }) => <State word={askStateWord(state)} /> },
    { id: "held", title: "Asked of", width: "minmax(80px, 1fr)", cell: (ask) => <Held ask={ask} /> },
    { id: "left", title: "Time left", width: "104px", cell: (ask) => <Left ask={ask} /> },
    { id: "asked", title: "Asked", width: "128px", drop: 1, cell: ({ askedAt }) => <Time at={askedAt} /> },
  ],
  card: (ask) => (
    <>
      <b>{visible(ask.question)}</b>
      <Line apart>
        <State word={askStateWord(ask.state)} />
        <Held ask={ask} />
        <Time at={ask.askedAt} />
      </Line>
    </>
  ),
  rowId: ({ requestId }) => requestId,
  open: ({ jobId, requestId }, projectId) => ({
    to: "/p/$projectId/asks/$jobId/$askId",
    params: { projectId, jobId, askId: requestId },
  }),
  empty: NoAsks,
  noMatch: "No ask matches",
});

/** Draws the inbox, which lists questions to people: those that wait for an answer, or those that are settled. */
export default function AsksPage() {
  return <ListPage of={asks} />;
}

function useHolders() {
  const contacts = useContacts().data?.contacts ?? [];
  return [
    { value: "", words: "anybody" },
    ...contacts.map(({ principalId, name }) => ({ value: principalId, words: principalId, note: name })),
  ];
}

/** Draws who is asked, or how the question was settled. */
function Held({ ask: { decision, principalId, approvalId } }: { ask: Ask }) {
  return <span>{decision === undefined ? principalId : decisionWords(decision, approvalId !== "")}</span>;
}

/** Draws what happens after the answer that continues the job. */
function Does({ ask }: { ask: Ask }) {
  const [, more] = splitQuestion(ask.question);
  const words = more || continuationWords("proceed", askPlace(ask)).does;
  return <span title={words}>{visible(words)}</span>;
}

/** Draws how long a contact has to answer. */
function Left({ ask: { state, deadlineAt } }: { ask: Ask }) {
  const now = useNow();
  if (state !== AskState.PENDING) return null;
  if (deadlineAt === undefined) return <span>no limit</span>;
  return <span>{durationWords(Math.max(0, timestampMs(deadlineAt) - now))}</span>;
}

function NoAsks({ search: { show } }: ListPart<Ask, { show?: "settled" | undefined }>) {
  return (
    <Empty icon="ask" title={show === "settled" ? "Nothing was answered yet" : "No questions are waiting"}>
      <p>Jobs ask before they delete data, and where the program says so. Their questions appear here.</p>
    </Empty>
  );
}

/**
 * True if a question that the service returned belongs to the list on the page. If the page lists settled questions, a pending question
 * does not belong to it.
 */
function isListed({ show }: { show?: "settled" | undefined }, { state }: Pick<Ask, "state">): boolean {
  return show !== "settled" || state !== AskState.PENDING;
}
