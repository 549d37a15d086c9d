import {
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { visible } from "../../words/text.ts";
import { labelOf } from "../../words/word.ts";
import { Button } from "../buttons/button.tsx";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import { KindTile } from "../marks/tiles.tsx";
import styles from "./graph.module.css";
import { GraphEdges } from "./graph-edges.tsx";
import {
  buildGraph,
  closedAtFirst,
  type GraphBox,
  type GraphLook,
  type GraphModel,
  type GraphNode,
  type GraphProps,
  type GraphRead,
  type GraphStep,
  inputNode,
} from "./graph-model.ts";
import { type GraphRect, layoutGraph } from "./layout.ts";
import { StepTile } from "./step-tile.tsx";
import { useView } from "./use-view.ts";
import { neighbourOf } from "./view.ts";

/** Smallest and largest height of a graph's window, in pixels. */
const heights = { min: 300, max: 620 };
/** Height that the window has beyond that of the graph, for the buttons below it. */
const beyondPx = 64;
/** Smallest scale with which blocks can be opened and closed. With a smaller one, the buttons for it would be too large for their boxes. */
const toggleScaleMin = 0.55;
/** Height of the name of a box, in pixels. */
const nameHeight = 36;
/** Distance in pixels by which an arrow key moves the graph. */
const stepPx = 60;

/** The arrow keys of the keyboard, as `KeyboardEvent.key` names them, with their directions. */
const directions: Readonly<Record<string, { readonly x: number; readonly y: number }>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/**
 * Draws the graph of a program in a window that can be moved and zoomed. Positions are computed once; a change of states changes only
 * colours and texts.
 */
export default function Graph({ label, program, run, selected, onSelect }: GraphProps) {
  const helpId = useId();
  const [closed, setClosed] = useState(() => closedAtFirst(program));
  const model = useMemo(() => buildGraph(program, closed), [program, closed]);
  const places = useMemo(() => layoutGraph(model), [model]);
  const { frame, view, isDragging, zoom, fit, pan, show } = useView(places);
  const [current, setCurrent] = useState<string>(inputNode);
  const stop = places.nodes.has(current) ? current : inputNode;
  const toggled = useRef<string>(undefined);
  const toggle = (id: string) => {
    toggled.current = id;
    setClosed((old) => new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id]));
  };
  const focusOn = (name: string, id: string) =>
    frame.current?.querySelector<HTMLElement>(`[data-${name}="${id}"]`)?.focus({ preventScroll: true });
  const focus = (id: string) => focusOn("node", id);
  const before = useRef(selected);
  // A button that opens or closes a block is drawn anew, and a drawer takes the focus. Both give it back.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only these changes move the focus
  useLayoutEffect(() => {
    if (toggled.current !== undefined) focusOn("toggle", toggled.current);
    toggled.current = undefined;
  }, [closed]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only these changes move the focus
  useEffect(() => {
    const last = before.current;
    before.current = selected;
    if (last !== undefined && selected === undefined && document.activeElement === document.body) focus(`step:${last}`);
  }, [selected]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = directions[event.key];
    const isOnNode = event.target instanceof HTMLElement && event.target.dataset["node"] !== undefined;
    if (direction !== undefined && isOnNode) {
      const next = neighbourOf(stop, direction, places.nodes);
      if (next !== undefined) focus(next);
    } else if (direction !== undefined) pan(-direction.x * stepPx, -direction.y * stepPx);
    else if (event.key === "+" || event.key === "=") zoom(1);
    else if (event.key === "-") zoom(-1);
    else if (event.key === "f" || event.key === "F") fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const height = Math.min(heights.max, Math.max(heights.min, places.height + beyondPx));
  return (
    <div className={styles["graph"]} style={{ height }}>
      <p id={helpId} className="visually-hidden">
        Plus and minus zoom, F shows the whole graph. On a step, the arrow keys move to its neighbours
        {onSelect === undefined ? "." : ", and Enter opens it."}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div
        ref={frame}
        className={classNames(styles["frame"], isDragging && styles["dragging"])}
        data-canvas=""
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys of the graph work here
        tabIndex={0}
        aria-label={label}
        aria-describedby={helpId}
        onKeyDown={onKeyDown}
      >
        <div
          className={classNames(styles["stage"], view.scale < toggleScaleMin && styles["small"])}
          style={
            {
              "--scale": view.scale,
              width: places.width,
              height: places.height,
              transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})`,
            } as CSSProperties
          }
        >
          {model.boxes.map(({ id }) => (
            <div key={id} className={styles["box"]} style={styleOf(places.boxes.get(id))} />
          ))}
          <GraphEdges model={model} places={places} run={run} />
          <ol>
            {itemsOf(model).map((item) =>
              "handles" in item ? (
                <BoxName
                  key={item.id}
                  box={item}
                  rect={places.boxes.get(item.id)}
                  selected={selected}
                  onSelect={onSelect}
                  onToggle={toggle}
                  onFocus={show}
                />
              ) : (
                <Node
                  key={item.id}
                  node={item}
                  rect={places.nodes.get(item.id)}
                  look={item.step === undefined ? undefined : run?.looks.get(item.step.id)}
                  end={endOf(item, run)}
                  names={item.id === inputNode ? program.input : program.result.map(({ name }) => name)}
                  isStop={item.id === stop}
                  isSelected={selected !== undefined && item.step?.id === selected}
                  onSelect={onSelect}
                  onToggle={toggle}
                  onFocus={(rect) => {
                    setCurrent(item.id);
                    show(rect);
                  }}
                />
              ),
            )}
          </ol>
        </div>
      </div>
      {run !== undefined && <Legend />}
      <div className={styles["zoom"]}>
        <Button onPress={fit}>Fit</Button>
        <Button onPress={() => zoom(-1)}>
          <span aria-hidden="true">−</span>
          <span className="visually-hidden">Zoom out</span>
        </Button>
        <span className={styles["scale"]} role="status" aria-label="Zoom">
          {Math.round(view.scale * 100)} %
        </span>
        <Button onPress={() => zoom(1)}>
          <span aria-hidden="true">+</span>
          <span className="visually-hidden">Zoom in</span>
        </Button>
      </div>
    </div>
  );
}

/** Returns the nodes in program order, and before them the boxes that begin with them, outer boxes first. */
function itemsOf({ nodes, boxes }: GraphModel): readonly (GraphNode | GraphBox)[] {
  const byId = new Map(boxes.map((box) => [box.id, box]));
  const begun = new Set<string>();
  const beginning = (id: string | undefined): GraphBox[] => {
    const box = byId.get(id ?? "");
    if (box === undefined || begun.has(box.id)) return [];
    begun.add(box.id);
    return [...beginning(box.box), box];
  };
  return nodes.flatMap((node) => [...beginning(node.box), node]);
}

function styleOf(rect: GraphRect | undefined) {
  return rect === undefined ? {} : { left: rect.x, top: rect.y, width: rect.width, height: rect.height };
}

/** Returns the state of the input or the result: reached or not. Undefined for a step, and if the program does not run. */
function endOf({ id, step }: GraphNode, run: GraphProps["run"]): boolean | undefined {
  if (step !== undefined || run === undefined) return undefined;
  return id === inputNode ? run.hasStarted : run.hasSucceeded;
}

type NodeProps = {
  node: GraphNode;
  rect: GraphRect | undefined;
  look: GraphLook | undefined;
  end: boolean | undefined;
  /** Names of the values of the input or the result. */
  names: readonly string[];
  isStop: boolean;
  isSelected: boolean;
  onSelect: GraphProps["onSelect"];
  onToggle: (id: string) => void;
  onFocus: (rect: GraphRect) => void;
};

function Node({ node, rect, look, end, names, isStop, isSelected, onSelect, onToggle, onFocus }: NodeProps) {
  const { id, step, inside, reads } = node;
  if (rect === undefined) return null;
  const tone = look === undefined ? (end === true ? "ok" : "todo") : toneOf(look);
  const isStill = look === undefined && end === undefined;
  return (
    <li className={styles["place"]} style={styleOf(rect)}>
      <NodeFrame
        id={id}
        className={classNames(styles["node"], !isStill && styles[tone], isSelected && styles["selected"])}
        isSelected={isSelected}
        isStop={isStop}
        onPress={step === undefined || onSelect === undefined ? undefined : () => onSelect(step.id)}
        onFocus={() => onFocus(rect)}
      >
        <NodeTile kind={step?.kind ?? (id === inputNode ? "input" : "result")} tool={step?.tool ?? ""} />
        <span className={styles["text"]}>
          <b>{step?.id ?? (id === inputNode ? "Input" : "Result")}</b>
          <bdi className={styles["title"]} title={step?.title}>
            {step === undefined ? names.join(", ") || "none" : visible(step.title)}
          </bdi>
          {step !== undefined && <span className={styles["facts"]}>{factsOf(step, inside, look)}</span>}
        </span>
        {look !== undefined && <Sign look={look} />}
        {end !== undefined && (
          <span className={classNames(styles["sign"], end ? styles["ok"] : styles["todo"])}>
            {end && <Icon name="check" size={10} />}
          </span>
        )}
        <span className="visually-hidden">
          {look === undefined ? "" : `${labelOf(look.word)}. `}
          {readsWords(reads)}
        </span>
        {look?.progress !== undefined && look.isRunning && (
          <span className={styles["progress"]} aria-hidden="true">
            <span style={{ width: `${100 * look.progress}%` }} />
          </span>
        )}
      </NodeFrame>
      {inside > 0 && step !== undefined && <Toggle id={step.id} isOpen={false} onToggle={onToggle} />}
    </li>
  );
}

type FrameProps = {
  id: string;
  className: string;
  isSelected: boolean;
  isStop: boolean;
  /** Undefined if the node opens nothing. It can still get the focus, so that its text can be read. */
  onPress: (() => void) | undefined;
  onFocus: () => void;
  children: ReactNode;
};

function NodeFrame({ id, className, isSelected, isStop, onPress, onFocus, children }: FrameProps) {
  const shared = { "data-node": id, className, tabIndex: isStop ? 0 : -1, onFocus };
  return onPress === undefined ? (
    <div {...shared}>{children}</div>
  ) : (
    <button type="button" {...shared} aria-current={isSelected || undefined} onClick={onPress}>
      {children}
    </button>
  );
}

/** Returns the third line of a node: rows and time of a step that has started, or else what the step is. */
function factsOf(step: GraphStep, inside: number, look: GraphLook | undefined): string {
  if (look !== undefined && look.facts !== "") return look.facts;
  if (inside > 0) return `${inside} steps inside`;
  return step.app === "" ? step.kind : step.app;
}

/** Words for the kind of data before the name of its step, in the sentence about what a step reads. */
const kindWords: Readonly<Record<GraphRead["what"], string>> = {
  input: "",
  params: "",
  value: "",
  error: "the error of ",
  rows: "rows of ",
  count: "the number of rows of ",
  answer: "",
  undone: "",
};

/** Returns the data that a node reads in words, such as `Reads rows of deals (value), input (chat)`. Empty if it reads nothing. */
function readsWords(reads: readonly GraphRead[]): string {
  const sources = Map.groupBy(
    reads.filter(({ what }) => what !== "undone"),
    ({ what, from }) => `${kindWords[what]}${from}`,
  );
  const words = [...sources].map(([source, all]) => {
    const paths = [...new Set(all.flatMap(({ path }) => (path === "" ? [] : [path])))];
    return paths.length === 0 ? source : `${source} (${paths.join(", ")})`;
  });
  return words.length === 0 ? "" : `Reads ${words.join(", ")}.`;
}

function toneOf({ word, hasStarted, isRunning }: GraphLook): "ok" | "warn" | "bad" | "info" | "todo" {
  if (isRunning) return "info";
  return hasStarted && word.tone !== "plain" ? word.tone : "todo";
}

/** The sign of a step's state: a ring that turns while it runs, a dashed ring before, and a disc with an icon after. */
function Sign({ look }: { look: GraphLook }) {
  const { word, isRunning } = look;
  const tone = toneOf(look);
  return (
    <span className={classNames(styles["sign"], styles[isRunning ? "turning" : tone])} title={labelOf(word)}>
      {!isRunning && (tone !== "todo" || word.word !== "waiting") && <Icon name={word.icon} size={10} />}
    </span>
  );
}

type BoxProps = {
  box: GraphBox;
  rect: GraphRect | undefined;
  selected: string | undefined;
  onSelect: GraphProps["onSelect"];
  onToggle: (id: string) => void;
  onFocus: (rect: GraphRect) => void;
};

/** Draws the name of a box. A parallel has no node, so its name opens the step. */
function BoxName({ box: { step, handles, branches }, rect, selected, onSelect, onToggle, onFocus }: BoxProps) {
  if (rect === undefined) return null;
  const words = handles ? `if ${step.id} fails` : boxWords(step.kind, branches);
  const name = (
    <>
      {!handles && <b>{step.id}</b>} <span className={styles["title"]}>{words}</span>
    </>
  );
  return (
    <li
      className={styles["boxName"]}
      style={{ left: rect.x, top: rect.y }}
      onFocus={() => onFocus({ ...rect, height: nameHeight })}
    >
      {!handles && <Toggle id={step.id} isOpen onToggle={onToggle} />}
      {step.kind === "parallel" && !handles && onSelect !== undefined ? (
        <button type="button" aria-current={selected === step.id || undefined} onClick={() => onSelect(step.id)}>
          {name}
        </button>
      ) : (
        <span>{name}</span>
      )}
    </li>
  );
}

function boxWords(kind: string, branches: number): string {
  if (kind === "parallel") return `${branches} branches at once`;
  if (kind === "until") return "repeats these steps";
  return branches === 1 ? "only on a condition" : "one of two branches";
}

function Toggle({ id, isOpen, onToggle }: { id: string; isOpen: boolean; onToggle: (id: string) => void }) {
  return (
    <button
      type="button"
      className={styles["toggle"]}
      data-toggle={id}
      aria-expanded={isOpen}
      onClick={() => onToggle(id)}
    >
      <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={14} />
      <span className="visually-hidden">Steps of {id}</span>
    </button>
  );
}

/** Explains the lines of the graph of a run. */
function Legend() {
  return (
    <ul className={styles["legend"]}>
      {(
        [
          ["handed", "data handed over, with rows"],
          ["live", "being read now"],
          ["todo", "not yet"],
          ["order", "runs after, without data"],
        ] as const
      ).map(([state, words]) => (
        <li key={state}>
          <svg width={22} height={6} aria-hidden="true" focusable="false">
            <path d="M0 3H22" className={styles[state]} />
          </svg>
          {words}
        </li>
      ))}
    </ul>
  );
}

/** The tile of a node: the mark of the app that a step calls, or else the icon of its kind. */
function NodeTile({ kind, tool }: { kind: string; tool: string }) {
  if (kind === "input") return <KindTile colour="ask" icon="inbox" />;
  return kind === "result" ? <KindTile colour="job" icon="check" /> : <StepTile kind={kind} tool={tool} />;
}
