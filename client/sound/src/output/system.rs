//! Output through the system's own interface: WASAPI on Windows, Core Audio on macOS.

use std::sync::{Arc, Mutex, PoisonError};

use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use cpal::{BufferSize, ErrorKind, SampleFormat, Stream, StreamConfig, SupportedStreamConfig};

use super::resample::Resampler;
use super::{BUFFER_MS, NAP, OutputError, Report, SoundStatus, Source, lock};
use crate::Stereo;

/// Maximum number of frames rendered at once; the rest of a larger request follows immediately.
const CHUNK: usize = 512;

/// Why the stream failed, once it has.
type Failure = Arc<Mutex<Option<String>>>;

pub(super) fn play(source: &Arc<Mutex<Source>>, report: &Report) -> Result<(), OutputError> {
    let refused = |error: cpal::Error| OutputError::Device(error.to_string());
    let device = cpal::default_host().default_output_device().ok_or(OutputError::NoDevice)?;
    let usual = device.default_output_config().map_err(refused)?;
    let failure = Failure::default();
    let stream = start(&device, &usual, source, &failure).map_err(refused)?;
    stream.play().map_err(refused)?;
    report.set(SoundStatus::Playing(None));
    let begun = device.id().ok();
    loop {
        std::thread::sleep(NAP);
        if let Some(reason) = failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(OutputError::Device(reason));
        }
        // The stream takes the orders; this only notices when their sender is gone.
        if lock(source).is_over {
            return Ok(());
        }
        let now = cpal::default_host().default_output_device().and_then(|it| it.id().ok());
        if now != begun {
            return Err(OutputError::NoDevice);
        }
    }
}

fn start(
    device: &cpal::Device,
    usual: &SupportedStreamConfig,
    source: &Arc<Mutex<Source>>,
    failure: &Failure,
) -> Result<Stream, cpal::Error> {
    let frames = usual.sample_rate() * BUFFER_MS / 2000;
    let short = StreamConfig { buffer_size: BufferSize::Fixed(frames), ..usual.config() };
    // A device that refuses a short buffer uses its own.
    let any = |config: StreamConfig| match usual.sample_format() {
        SampleFormat::I16 => open(device, config, source, failure, |it| (it * 32_767.0) as i16),
        SampleFormat::I32 => {
            open(device, config, source, failure, |it| (f64::from(it) * 2_147_483_647.0) as i32)
        }
        _ => open(device, config, source, failure, |it| it),
    };
    any(short).or_else(|_| any(usual.config()))
}

fn open<T: cpal::SizedSample + Send + 'static>(
    device: &cpal::Device,
    config: StreamConfig,
    source: &Arc<Mutex<Source>>,
    failure: &Failure,
    sample: impl Fn(f32) -> T + Send + 'static,
) -> Result<Stream, cpal::Error> {
    let (source, failure) = (source.clone(), failure.clone());
    let channels = usize::from(config.channels).max(1);
    let mut resampler = Resampler::to(config.sample_rate);
    let mut rendered = [[0.0; 2]; CHUNK];
    let mut used = CHUNK;
    let fill = move |out: &mut [T], _: &cpal::OutputCallbackInfo| {
        let mut source = lock(&source);
        for frame in out.chunks_mut(channels) {
            let [left, right] = resampler.frame(|| next(&mut source, &mut rendered, &mut used));
            match frame {
                [one] => *one = sample(0.5 * (left + right)),
                [first, second, rest @ ..] => {
                    (*first, *second) = (sample(left), sample(right));
                    rest.fill_with(|| sample(0.0));
                }
                [] => {}
            }
        }
    };
    let failed = move |error: cpal::Error| {
        // Late frames and a refused priority are no reason to restart.
        if !matches!(error.kind(), ErrorKind::Xrun | ErrorKind::RealtimeDenied) {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
        }
    };
    device.build_output_stream(config, fill, failed, None)
}

/// The mixer's next frame.
fn next(source: &mut Source, rendered: &mut [Stereo; CHUNK], used: &mut usize) -> Stereo {
    // Small pieces, so that an order waits only for a few of them.
    const PIECE: usize = 64;
    if *used >= PIECE {
        let _ = source.fill(&mut rendered[..PIECE]);
        *used = 0;
    }
    *used += 1;
    rendered[*used - 1]
}
