import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { GraphLayout, GraphRect } from "./layout.ts";
import { firstView, fitView, showRect, zoomView } from "./view.ts";

type GraphView = ReturnType<typeof fitView>;

/** Factor of one step of the zoom. */
const zoomFactor = 1.2;
/** Change of the scale for each pixel that a wheel reports. */
const wheelFactor = 1.002;

/** Height in pixels at the bottom of the window that the buttons and the legend cover. */
const belowPx = 56;

/** The window of a graph: the part that it shows, and the functions that change it. */
type GraphWindow = {
  frame: RefObject<HTMLDivElement | null>;
  view: GraphView;
  isDragging: boolean;
  /** Zooms by a number of steps around the middle of the window. A negative number zooms out. */
  zoom: (steps: number) => void;
  /** Shows the whole graph. */
  fit: () => void;
  pan: (x: number, y: number) => void;
  /** Moves the graph so that this part of it is in the window. */
  show: (rect: GraphRect) => void;
};

/**
 * Returns the window in which the user sees a graph. At first the whole graph fits; dragging moves it. The mouse wheel zooms only while Ctrl
 * is pressed, so that it otherwise scrolls the page.
 */
export function useView(graph: Pick<GraphLayout, "width" | "height">): GraphWindow {
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<GraphView>({ x: 0, y: 0, scale: 1 });
  const [isDragging, setDragging] = useState(false);
  const isMoved = useRef(false);
  const sizeOf = useCallback(() => {
    const { clientWidth: width = 0, clientHeight = 0 } = frame.current ?? {};
    return { width, height: Math.max(0, clientHeight - belowPx) };
  }, []);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const open = () => {
      if (!isMoved.current) setView(firstView(graph, sizeOf()));
    };
    open();
    const observer = new ResizeObserver(open);
    observer.observe(element);
    return () => observer.disconnect();
  }, [graph, sizeOf]);
  const change = useCallback((to: (view: GraphView) => GraphView) => {
    isMoved.current = true;
    setView(to);
  }, []);
  useEffect(() => {
    const element = frame.current;
    return element === null ? undefined : listen(element, change, setDragging);
  }, [change]);
  return {
    ...{ frame, view, isDragging },
    zoom: (steps) =>
      change((old) => {
        const { width, height } = sizeOf();
        return zoomView(old, zoomFactor ** steps, { x: width / 2, y: height / 2 });
      }),
    fit: () => change(() => fitView(graph, sizeOf())),
    pan: (x, y) => change((old) => ({ ...old, x: old.x + x, y: old.y + y })),
    show: (rect) => setView((old) => showRect(old, rect, sizeOf())),
  };
}

/** Moves the graph by the pointer and the wheel. Returns a function that ends this. */
function listen(
  element: HTMLElement,
  change: (to: (view: GraphView) => GraphView) => void,
  onDrag: (isDragging: boolean) => void,
): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const onWheel = (event: WheelEvent) => {
    const { left, top } = element.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) {
      const at = { x: event.clientX - left, y: event.clientY - top };
      change((old) => zoomView(old, wheelFactor ** -event.deltaY, at));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) change((old) => ({ ...old, x: old.x - event.deltaX }));
    else return;
    event.preventDefault();
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0 || (event.target instanceof Element && event.target.closest("button") !== null)) return;
    element.setPointerCapture(event.pointerId);
    onDrag(true);
    const moving = new AbortController();
    const move = ({ movementX, movementY }: PointerEvent) =>
      change((old) => ({ ...old, x: old.x + movementX, y: old.y + movementY }));
    const end = () => {
      moving.abort();
      onDrag(false);
    };
    element.addEventListener("pointermove", move, { signal: moving.signal });
    for (const name of ["pointerup", "pointercancel"] as const)
      element.addEventListener(name, end, { signal: moving.signal });
  };
  element.addEventListener("wheel", onWheel, { passive: false, signal });
  element.addEventListener("pointerdown", onPointerDown, { signal });
  // A browser scrolls to an element that gets the focus. The graph moves itself instead.
  const stay = () => element.scrollTo(0, 0);
  element.addEventListener("scroll", stay, { signal });
  return () => ended.abort();
}
