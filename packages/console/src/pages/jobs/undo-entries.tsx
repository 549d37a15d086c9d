import { JobsService, type Saga } from "@svc/gen/jobs";
import { useRows } from "../../calls/rows.ts";
import { Section } from "../../ui/layout/section.tsx";
import { ListStates } from "../../ui/rows/list-states.tsx";
import { LoadMore } from "../../ui/rows/load-more.tsx";
import { Table } from "../../ui/rows/table.tsx";
import { State } from "../../ui/values/state.tsx";
import { undoWord } from "../../words/jobs.ts";

/** How the calls of a job may be undone, or were: from the last one down. */
export function UndoEntries({ jobId, saga }: { jobId: string; saga: Saga }) {
  const list = useRows(JobsService.method.listUndoEntries, { jobId, pageSize: 100 }, ({ entries }) => entries);
  return (
    <Section title={`Undo entries, ${saga.state}`}>
      <p>
        {saga.entries} recorded, {saga.done} undone{saga.failed > 0 && `, ${saga.failed} not`}. They are undone from the
        last one down.
      </p>
      <ListStates list={list} empty={<p>Their details are gone with the rows of the job.</p>} skeletonRows={2}>
        <Table
          label="Undo entries"
          head={["Entry", "Step", "Row", "Undone by", "Entity", "State"]}
          rows={list.rows.map(({ entry, stepId, ordinal, toolSlug, entityId, state }) => ({
            id: String(entry),
            cells: [entry, stepId, ordinal, toolSlug, entityId, <State key="state" word={undoWord(state)} />],
          }))}
        />
      </ListStates>
      <LoadMore list={list} />
    </Section>
  );
}
