import { useQuery } from "@connectrpc/connect-query";
import { CatalogService } from "@svc/gen/catalog";
import { State } from "../../ui/values/state.tsx";
import { classWord } from "../../words/calls.ts";
import { prettyJson } from "../../words/pretty-json.ts";
import { visible } from "../../words/text.ts";
import { type ListedStep, readProgram } from "../jobs/program.ts";
import styles from "./plan.module.css";

/** Draws the complete plan of a job: every step in order, with its call, its arguments, its account, and the call that undoes it. */
export function Plan({ programJson }: { programJson: string }) {
  return <PlanList steps={readProgram(programJson)} />;
}

function PlanList({ steps }: { steps: readonly ListedStep[] }) {
  return (
    <ol className={styles["plan"]}>
      {steps.map((step) => (
        <li key={step.id} className={styles["step"]}>
          <PlanStep step={step} />
          {step.calls.length > 0 && (
            <div className={styles["block"]}>
              <p className={styles["blockName"]}>for each row</p>
              <PlanList steps={step.calls} />
            </div>
          )}
          {step.blocks.map((block) => (
            <div key={block.name} className={styles["block"]}>
              <p className={styles["blockName"]}>{block.name}</p>
              <PlanList steps={block.steps} />
            </div>
          ))}
        </li>
      ))}
    </ol>
  );
}

function PlanStep({ step: { id, kind, says, tool, entity, args, when, undo } }: { step: ListedStep }) {
  const isCall = tool !== "";
  return (
    <>
      <p>
        <b>{visible(id)}</b> {isCall && tool !== "http" ? <ToolClass slug={tool} /> : null}{" "}
        <span className={styles["kind"]}>{kind}</span> <code>{visible(says)}</code>
        {entity !== "" && <> as {visible(entity)}</>}
        {when !== "" && (
          <>
            {" "}
            when <code>{visible(when)}</code>
          </>
        )}
        {isCall && <span className={styles["kind"]}>{undo === "" ? "" : `, undone by ${visible(undo)}`}</span>}
      </p>
      {args !== "" && <pre className={styles["args"]}>{visible(prettyJson(args))}</pre>}
    </>
  );
}

/** Draws the effect of a tool's calls: they read, write or destroy data of the app. */
function ToolClass({ slug }: { slug: string }) {
  const tool = useQuery(
    CatalogService.method.getTool,
    { slug: slug.split("@")[0] ?? slug },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  const access = tool.data?.tool?.accessClass;
  return access === undefined ? null : <State word={classWord(access)} />;
}
