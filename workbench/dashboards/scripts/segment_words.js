// The words of a memory's layout: a row is a segment, who holds it is a workgroup.

const WHO = "workgroup", MOMENT = "cycle";
const timeName = (word) => `time (${word}cycles)`;
const nameOf = (scene, item) => `Workgroup ${formatted(item)}`;

function placeWords(scene, strip, [first]) {
  return `segments ${formatted(strip.base[first])} to ${formatted(strip.base[first] + strip.length[first] - 1)}`;
}
