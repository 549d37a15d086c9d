import { AddStep } from "./add-step.tsx";
import styles from "./builder.module.css";
import type { Builder } from "./builder.ts";
import { StepCard } from "./step-card.tsx";
import type { StepNode } from "./step-tree.ts";

/** Draws a list of steps as cards in order, and the button that adds a step at its end. `list`: JSON Pointer of the list. */
export function StepList({ builder, nodes, list }: { builder: Builder; nodes: readonly StepNode[]; list: string }) {
  return (
    <>
      {nodes.length > 0 && (
        <ol className={styles["list"]}>
          {nodes.map((node, index) => (
            <li key={node.id || node.pointer} className={styles["item"]}>
              <StepCard builder={builder} node={node} list={list} index={index} isLast={index === nodes.length - 1}>
                {node.blocks.map((block) => (
                  <div key={block.list} className={styles["block"]}>
                    <h4 className={styles["when"]}>{block.words}</h4>
                    <StepList builder={builder} nodes={block.steps} list={block.list} />
                  </div>
                ))}
              </StepCard>
            </li>
          ))}
        </ol>
      )}
      <AddStep builder={builder} list={list} count={nodes.length} />
    </>
  );
}
