// The words of a dispatcher's timeline: a row is a wave slot of a unit of a module, who holds it is a group.

const WHO = "group", MOMENT = "cycle";
const timeName = (word) => `time (${word}cycles)`;
const nameOf = (scene, item) => `Group ${formatted(item)}`;

function placeWords(scene, strip, pieces) {
  const { units, slots, first } = scene, waves = new Map();
  for (const k of pieces) {
    const row = scene.rows - strip.base[k] - strip.length[k]; // the first module is on top
    const unit = Math.floor(row / slots), name = `module ${first + Math.floor(unit / units)}`;
    waves.set(name, [...(waves.get(name) ?? []), `${formatted(strip.length[k])} on unit ${unit % units}`]);
  }
  return [...waves].map(([name, places]) => `${scene.meaning} ${scene.kinds[strip.fill[pieces[0]]]}, ${name} (waves: ${places.join(", ")})`).join(" and ");
}
