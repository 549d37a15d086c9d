import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { useSettled } from "../../calls/settled.ts";
import type { JsonWriteHandle } from "../../ui/code/json-write.tsx";
import type { NamedFile } from "../../ui/fields/dropped-files.ts";
import { FileDrop } from "../../ui/fields/file-drop.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { placeDefinitionFaults } from "./definition-faults.ts";
import { DefinitionVerdictView } from "./definition-verdict.tsx";
import { exampleDefinition } from "./example.ts";
import { PublishButton } from "./publish-button.tsx";
import { readChosen } from "./read-chosen.ts";
import { useDefinitionCheck } from "./use-definition-check.ts";

const JsonWrite = lazy(() => import("../../ui/code/json-write.tsx"));

/** So long after the last key the definition is checked. */
const restMs = 350;

/** The editor of a definition, what the service says of it, and the way to publish it. `why` says why this seat may not. */
export function DefinitionEditor({ projectId, why }: { projectId: string; why: string | undefined }) {
  const [begun, setBegun] = useState({ text: exampleDefinition, times: 0 });
  const [text, setText] = useState(begun.text);
  const [problem, setProblem] = useState<string>();
  const editor = useRef<JsonWriteHandle>(null);
  const checked = useSettled(text, restMs);
  const check = useDefinitionCheck(checked, why === undefined);
  const faults = useMemo(() => placeDefinitionFaults(checked, check.data?.faults ?? []), [checked, check.data]);
  const marks = useMemo(() => faults.map(({ mark }) => mark), [faults]);
  const isCurrent = checked === text && check.isSuccess && !check.isPlaceholderData;
  const take = async (files: readonly NamedFile[]) => {
    const read = await readChosen(files);
    setProblem("problem" in read ? read.problem : undefined);
    if ("problem" in read) return;
    setBegun(({ times }) => ({ text: read.text, times: times + 1 }));
    setText(read.text);
  };
  return (
    <Columns>
      <Section title="Definition">
        <FileDrop accept=".json" onFiles={(files) => void take(files)}>
          {problem !== undefined && (
            <div role="alert">
              <Notice tone="bad" title={problem} />
            </div>
          )}
          <Suspense fallback={<Skeleton rows={12} />}>
            <JsonWrite
              key={begun.times}
              initial={begun.text}
              label="Definition"
              marks={marks}
              onChange={setText}
              handle={editor}
            />
          </Suspense>
        </FileDrop>
      </Section>
      <Stack>
        <PublishButton
          text={text}
          projectId={projectId}
          why={
            why ??
            (!isCurrent
              ? "The definition is being checked"
              : faults.length > 0
                ? "Mend what is wrong first"
                : undefined)
          }
        />
        <FaultNotice error={check.error} onRetry={() => void check.refetch()} />
        {check.data !== undefined && (
          <DefinitionVerdictView
            projectId={projectId}
            verdict={check.data}
            faults={faults}
            isCurrent={isCurrent}
            onGoTo={(offset) => editor.current?.goTo(offset)}
          />
        )}
      </Stack>
    </Columns>
  );
}
