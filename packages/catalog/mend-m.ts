import { parseKeptToolkit } from "/work/wt/mend-sources/packages/catalog/src/private/parse-definition.ts";
import { indexMessages } from "/work/wt/mend-sources/packages/catalog/src/convert-catalog.ts";
import { importOpenapi } from "/work/wt/mend-sources/packages/catalog/src/import/import-openapi.ts";
import { shopDocument } from "/work/wt/mend-sources/packages/catalog/src/import/test-documents.ts";
const document: any = shopDocument();
const [order] = Object.values(document.paths).slice(0,1) as any[];
document.paths = {};
const props = Object.fromEntries(Array.from({length: 12}, (_, i) => [`field_${i}`, {type:"object", properties: {a:{type:"string",description:"x".repeat(30)}, b:{type:"array",items:{type:"integer"}}}}]));
for (let at=0; at<750; at++) document.paths[`/made/${at}/{id}`] = { get: { operationId:`get_${at}`, summary:`Get thing number ${at} of the shop and its parts`, parameters:[{name:"id",in:"path",required:true,schema:{type:"string"}}], responses:{200:{description:"d",content:{"application/json":{schema:{type:"object",properties:props}}}}}}, post: { operationId:`make_${at}`, summary:`Make thing number ${at} of the shop and its parts`, parameters:[{name:"id",in:"path",required:true,schema:{type:"string"}}], requestBody:{content:{"application/json":{schema:{type:"object",properties:props}}}}, responses:{200:{description:"d",content:{"application/json":{schema:{type:"object",properties:props}}}}}}};
const made = importOpenapi(JSON.stringify(document), { slug:"x",category:"",documentUrl:"",server:"",auth:"",idempotencyHeader:"",only:[],except:[],overrides:[],refused:[],names:{} });
console.log(made.definitionJson.length, Object.keys(JSON.parse(made.definitionJson).tools).length);
for (let i=0;i<3;i++) {
let last=performance.now(); let max=0; let slow: number[] = []; let go=true;
const tick=()=>{const n=performance.now(); if(n-last>8) slow.push(Math.round(n-last)); last=n; if(go) setImmediate(tick)};
setImmediate(tick);
const t0=performance.now();
const tk = await parseKeptToolkit(made.definitionJson, "prj_x" as any);
const t1=performance.now();
await new Promise(r=>setImmediate(r));await new Promise(r=>setImmediate(r));
console.log("parse", Math.round(t1-t0), "slow", slow); slow=[];
const t2=performance.now();
indexMessages({toolkits:new Map([[tk.slug,tk]]), tools:new Map([...tk.actions].map(a=>[a.slug,a]))} as any);
console.log("index", Math.round(performance.now()-t2)); go=false; await new Promise(r=>setImmediate(r));
}
